const mark = '[hidden]';
const secretName = /key|token|secret|passw|credential|auth|cookie|bearer|private|signature|webhook|dsn/i;
/** Places whose values are anybody's guess: environments, headers. */
const opaquePlace = /^(?:env|vars|headers)$/i;
/** A reference by itself, and nothing beside it. */
const reference = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;
/** `https://user:password@host`, `--api-key=…`, long words without a meaning. */
const secretValue =
  /:\/\/[^/\s]*@|(?:key|token|secret|passw\w*|auth\w*)[=:]\s*\S|\b(?:sk|pk|ghp|gho|xox[a-z]|AIza|eyJ)[-_A-Za-z0-9]{12,}|[A-Za-z0-9+_-]{40,}/i;
/** Names that only look secret. */
const harmless = /^(?:maxTokens|contextTokens|sessionKey|keywords?|author|tokens|requireAuth)$/i;

/** A copy with nothing in it that is, or looks like, a secret. Rather too much is hidden than too little. */
export function hidden(value: unknown, name = '', isOpaque = false): unknown {
  if (typeof value === 'string') {
    if (reference.test(value)) return value;
    const isNamed = secretName.test(name) && !harmless.test(name);
    return isOpaque || isNamed || secretValue.test(value) ? mark : value;
  }
  if (Array.isArray(value)) return value.map((one, i) => hidden(one, name, isOpaque || isAfterFlag(value, i)));
  if (typeof value !== 'object' || value === null) return value;
  // Where a secret is, and not the secret: `{ source: 'env', id: 'OPENAI_API_KEY' }`.
  if (isReference(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, hidden(one, isNamedSecret(name) ? name : key, isOpaque || opaquePlace.test(key))]),
  );
}

const isNamedSecret = (name: string) => secretName.test(name) && !harmless.test(name) && !/^auth$/i.test(name);
const isReference = (value: object) =>
  'source' in value &&
  'id' in value &&
  ['env', 'file', 'exec'].includes(String(value.source)) &&
  Object.keys(value).every((key) => ['source', 'provider', 'id'].includes(key));
/** `['--token', 'abc']`. */
const isAfterFlag = (list: readonly unknown[], i: number) => {
  const before = list[i - 1];
  return typeof before === 'string' && /^-[^=]*(?:key|token|secret|passw|auth)[^=]*$/i.test(before);
};
