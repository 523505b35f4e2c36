const majorOf = (modelId: string): number | undefined => {
  const found = /^gemini(?:-live)?-(\d+)/.exec(modelId.toLowerCase());
  return found ? Number(found[1]) : undefined;
};

/** As pi decides it: where not, it sends a picture between two results. */
export const showsImagesInResults = (modelId: string): boolean => (majorOf(modelId) ?? 3) >= 3;

interface Part {
  readonly functionCall?: object;
  readonly functionResponse?: object;
  thoughtSignature?: string;
}
interface Payload {
  readonly model?: string;
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[];
}

/** What Google says to send in place of a signature that another model's call cannot have. */
const noSignature = 'skip_thought_signature_validator';

/**
 * Gemini 3 refuses a round of the turn under way whose first call has no signature. Another model, which began the turn,
 * gave it none.
 */
export function withThoughtSignatures(payload: unknown): undefined {
  const { model = '', contents = [] } = payload as Payload;
  if ((majorOf(model.replace(/^models\//, '')) ?? 0) < 3) return;
  const asked = contents.findLastIndex(
    ({ role, parts = [] }) => role === 'user' && parts.some(({ functionResponse }) => !functionResponse),
  );
  for (const { role, parts = [] } of contents.slice(asked + 1)) {
    const first = role === 'model' ? parts.find(({ functionCall }) => functionCall) : undefined;
    if (first) first.thoughtSignature ??= noSignature;
  }
}
