import { messageOf } from '../../kernel/index.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import { type Checked, isSecretRef, type SecretRef, Secrets } from './contract.ts';

/** `secrets.check {refs: [{path, ref}]}`: whether each can be resolved, and never to what. */
export const check: Method = async ({ refs }, _client, run): Promise<{ readonly checked: readonly Checked[] }> => {
  const isAsked = (one: unknown): one is { path: string; ref: SecretRef } =>
    typeof (one as { path?: unknown } | null)?.path === 'string' && isSecretRef((one as { ref?: unknown }).ref);
  if (!Array.isArray(refs) || refs.length > 500 || !refs.every(isAsked)) {
    throw refusal(400, 'SECRET_PARAMS', '"refs" must be a list of at most 500 { path, ref }');
  }
  const secrets = run.get(Secrets);
  const checked = refs.map(
    async ({ path, ref }): Promise<Checked> =>
      secrets.resolve(ref, path, run).then(
        () => ({ path }),
        (error: unknown) => ({ path, fault: messageOf(error) }),
      ),
  );
  return { checked: await Promise.all(checked) };
};
