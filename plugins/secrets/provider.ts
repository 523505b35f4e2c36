import type { FromSchema } from 'json-schema-to-ts';
import type { SecretRef } from './contract.ts';
import { provider as providerSchema, schema } from './schema.ts';

export type SecretsConfig = FromSchema<typeof schema>;
export type Provider = NonNullable<SecretsConfig['providers']>[string];
export type Env = Readonly<Record<string, string | undefined>>;

/** What a source is asked with. */
export interface Question {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider;
  readonly env: Env;
}

/** A reference that cannot be resolved: what is wrong and what to do, without the place. Only this is told of what went wrong. */
export class Unavailable extends Error {}

/** The environment needs no provider: one that nobody configured has every variable. */
export function providerOf(
  { source, provider }: SecretRef,
  { providers = {}, defaults = {} }: SecretsConfig,
): Omit<Question, 'id' | 'env'> {
  const name = provider ?? defaults[source] ?? 'default';
  const found = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (found?.source === source) return { name, provider: complete(found) };
  if (found) throw new Unavailable(`secrets.providers.${name} is of source "${found.source}", not "${source}"; name another provider`);
  if (source === 'env' && name === (defaults.env ?? 'default')) return { name, provider: complete({ source }) };
  throw new Unavailable(`there is no secrets.providers.${name}; add { source: "${source}", … } there`);
}

/** With defaults: a config that comes from its text, and from no plugin, has none. */
function complete(written: Partial<Provider>): Provider {
  const fields = Object.entries(providerSchema.properties as Readonly<Record<string, { readonly default?: unknown }>>);
  const usual = fields.flatMap(([key, field]) => (field.default === undefined ? [] : [[key, field.default] as const]));
  return { ...Object.fromEntries(usual), ...written } as Provider;
}
