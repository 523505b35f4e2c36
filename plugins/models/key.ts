import { messageOf, type Run } from '../../kernel/index.ts';
import { isSecretRef, type SecretInput, secretOf, Secrets } from '../secrets/contract.ts';
import { attemptOf, type Attempt, type Model } from './contract.ts';

/** Tries with the key that a provider's block has or refers to, resolved for this attempt. One that cannot be had fails this attempt alone. */
export async function withKey(
  run: Run,
  { input, model }: { readonly input: SecretInput | undefined; readonly model: Model },
  attempt: (apiKey: string | undefined) => Promise<Attempt>,
): Promise<Attempt & { readonly apiKey?: string | undefined }> {
  let apiKey: string | undefined;
  try {
    apiKey = await secretOf(run, input, `models.providers.${model.provider}.apiKey`);
  } catch (cause) {
    return attemptOf(model, {}, { code: 'MODEL_NO_KEY', message: messageOf(cause) });
  }
  const made = await attempt(apiKey);
  // One that was changed where it is kept: the next attempt asks for it anew.
  if (isSecretRef(input) && [401, 403].includes(made.failure?.status ?? 0)) run.find(Secrets)?.forget(input);
  return { ...made, apiKey };
}
