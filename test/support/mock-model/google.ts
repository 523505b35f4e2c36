import type { Answer, Call } from './answer.ts';
import { follow, list, message, textOf, type Facts, type Json, type Wire } from './wire.ts';

/** `POST …/models/<id>:streamGenerateContent`, Google's. */
export const google: Wire = {
  api: 'google-generative-ai',
  read(body) {
    const talk = follow();
    talk.system(textOf(list((body['systemInstruction'] as Json | undefined)?.['parts'])));
    for (const each of list(body['contents'])) {
      const parts = list(each['parts']);
      if (each['role'] === 'model') talk.assistant(parts.some((part) => part['functionCall']));
      else {
        talk.image(parts.filter((part) => part['inlineData']).length);
        const results = parts.filter((part) => part['functionResponse']);
        for (const result of results) talk.result(JSON.stringify(result['functionResponse']));
        if (results.length === 0) talk.user(textOf(parts));
      }
    }
    const declared = list(body['tools']).flatMap((tool) => list(tool['functionDeclarations']));
    return talk.asked(declared.map((tool) => tool['name']));
  },
  streams: (_, path) => path.includes(':stream'),
  frames(answer, facts) {
    const frames: string[] = [];
    if (answer.thinking) frames.push(frame(facts, [{ text: answer.thinking, thought: true }]));
    for (const text of answer.deltas) frames.push(frame(facts, [{ text }]));
    // Arguments come whole in this protocol: a cut is one inside the frame.
    if (answer.cut === 'arguments') return [...frames, frame(facts, parts(answer.calls)).slice(0, 60)];
    if (answer.cut) return frames;
    return [...frames, frame(facts, parts(answer.calls), finishOf(answer))];
  },
  whole: (answer, facts) => content(facts, [{ text: answer.deltas.join('') }, ...parts(answer.calls)], finishOf(answer)),
  error: (status, overflow) => ({
    error: {
      code: status,
      message: overflow
        ? 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'
        : message(status, false),
      status: status === 429 ? 'RESOURCE_EXHAUSTED' : status === 401 ? 'UNAUTHENTICATED' : status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT',
    },
  }),
};

/** A call that does not parse never reaches the client: Google ends such a reply with a reason of its own. */
const finishOf = (answer: Answer) => (answer.calls.some(({ args }) => !isJson(args)) ? 'MALFORMED_FUNCTION_CALL' : 'STOP');

const parts = (calls: readonly Call[]): readonly Json[] =>
  calls.filter(({ args }) => isJson(args)).map(({ name, args }) => ({ functionCall: { name, args: JSON.parse(args) as unknown } }));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const frame = (facts: Facts, said: readonly Json[], finishReason?: string) =>
  `data: ${JSON.stringify(content(facts, said, finishReason))}\n\n`;

const content = (facts: Facts, said: readonly Json[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts: said }, index: 0, ...(finishReason && { finishReason }) }],
  modelVersion: facts.model,
  responseId: `google-${facts.id}`,
  ...(finishReason && {
    usageMetadata: {
      promptTokenCount: facts.input,
      candidatesTokenCount: facts.output,
      cachedContentTokenCount: facts.cached,
      totalTokenCount: facts.input + facts.output,
    },
  }),
});
