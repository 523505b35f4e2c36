import type { SecretRef } from './contract.ts';
import { type Env, providerOf, type Question, type SecretsConfig, Unavailable } from './provider.ts';

/** Who asks a program: it may know the answer still. */
export type AskProgram = (question: Question) => Promise<string>;

/** The secret behind a reference. Throws `Unavailable`, or what the system says. */
export async function readSecret(ref: SecretRef, config: SecretsConfig, env: Env, askProgram: AskProgram): Promise<string> {
  const question = { ...providerOf(ref, config), id: ref.id, env };
  const { fromEnvironment, fromFile } = await import('./sources.ts');
  if (ref.source === 'env') return fromEnvironment(question);
  return ref.source === 'file' ? fromFile(question) : askProgram(question);
}

/** Why a reference cannot be resolved. What a source throws by itself may hold what it read: only its kind is told. */
export const reasonOf = (cause: unknown): string =>
  cause instanceof Unavailable ? cause.message : `it could not be read (${(cause as { code?: string }).code ?? 'unexpected'})`;
