import { KernelError, type Run, service } from '../../kernel/index.ts';

/** Where a secret is, in place of the secret: `{ source: 'env', provider: 'default', id: 'OPENAI_API_KEY' }`. */
export interface SecretRef {
  readonly source: 'env' | 'file' | 'exec';
  /** A name in `secrets.providers`; absent: `secrets.defaults` says, else `default`. */
  readonly provider?: string | undefined;
  /** A variable; a JSON pointer into a file; what a program is asked for. */
  readonly id: string;
}

export type SecretInput = string | SecretRef;

/** For config fields that hold a secret: `apiKey: { ...secretInput, description: '…' }`. What they hold goes through `secretOf`. */
export const secretInput = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      additionalProperties: false,
      required: ['source', 'id'],
      properties: {
        source: { type: 'string', enum: ['env', 'file', 'exec'], description: 'What has it: the environment, a file, a program' },
        provider: { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'A name in secrets.providers' },
        id: {
          type: 'string',
          minLength: 1,
          maxLength: 512,
          description: 'The variable; the JSON pointer into the file; what the program is asked for',
        },
      },
    },
  ],
} as const;

export interface Secrets {
  /**
   * The secret behind a reference, as it is now. `path` is the config path that holds the reference. Throws SECRET_UNAVAILABLE, in
   * one line that names both and never any part of a secret.
   */
  resolve(ref: SecretRef, path: string, run: Run): Promise<string>;
  /** It was refused where it was used: what is kept of it is asked for again. */
  forget(ref: SecretRef): void;
}
export const Secrets = service<Secrets>('secrets');

export const isSecretRef = (value: unknown): value is SecretRef =>
  typeof value === 'object' &&
  value !== null &&
  ['env', 'file', 'exec'].includes((value as SecretRef).source) &&
  typeof (value as SecretRef).id === 'string';

/** What a field of the form `secretInput` holds, resolved for one use: never kept, never part of another value. Undefined where it is not set. */
export async function secretOf(run: Run, input: SecretInput | undefined, path: string): Promise<string | undefined> {
  if (typeof input !== 'object') return input || undefined;
  const secrets = run.find(Secrets);
  if (secrets) return secrets.resolve(input, path, run);
  throw new KernelError('SECRET_UNAVAILABLE', `${path} refers to a secret, which plugin "secrets" would resolve; switch it on`);
}

/** `node:diagnostics_channel` on which every resolved secret is told, so that whoever writes text leaves it out. */
export const secretChannel = 'instar.secret';

/** Answer of the gateway's method `secrets.check {refs: [{path, ref}]}`. It never holds a secret. */
export interface Checked {
  readonly path: string;
  /** Why it cannot be resolved; absent where it can. */
  readonly fault?: string;
}
