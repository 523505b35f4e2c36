import type { FromSchema } from 'json-schema-to-ts';
import { secretInput } from '../secrets/contract.ts';

const hours = { type: 'number', exclusiveMinimum: 0, maximum: 8760 } as const;

const profile = {
  type: 'object',
  additionalProperties: false,
  required: ['provider', 'mode'],
  properties: {
    provider: { type: 'string', minLength: 1, description: 'The provider it is for, as models name it' },
    mode: {
      type: 'string',
      enum: ['api_key', 'token', 'oauth'],
      description: 'What it is: a key, a fixed token, or a token that is renewed',
    },
    apiKey: { ...secretInput, description: 'api_key: the key. Absent: the one of "instar models auth add"' },
    token: { ...secretInput, description: 'token: the token. Absent: the one of "instar models auth add"' },
    email: { type: 'string', description: 'Whose account it is; for people' },
    oauth: {
      type: 'object',
      additionalProperties: false,
      required: ['tokenUrl', 'clientId'],
      description: 'oauth: where and as whom the token is renewed',
      properties: {
        tokenUrl: { type: 'string', pattern: '^https?://', description: "The provider's token endpoint" },
        clientId: { type: 'string', minLength: 1, description: 'Our id there' },
        clientSecret: { ...secretInput, description: 'Our secret there, where it wants one' },
      },
    },
  },
} as const;

export const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'Keys and tokens of model providers, several of each',
  properties: {
    profiles: {
      type: 'object',
      additionalProperties: profile,
      'x-contained': true,
      description: 'By a name of your choice, such as anthropic:work',
    },
    order: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string', minLength: 1 } },
      description: 'By provider: the profiles that are used, in this order. Absent: OAuth, tokens, keys; the least recently used first',
    },
    cooldowns: {
      type: 'object',
      additionalProperties: false,
      description: 'How long a profile rests after errors',
      properties: {
        billingBackoffHours: { ...hours, default: 5, description: 'After the first billing error; doubled with each further one' },
        billingBackoffHoursByProvider: { type: 'object', additionalProperties: hours, description: 'The same, by provider' },
        billingMaxHours: { ...hours, default: 24, description: 'The longest rest after billing errors' },
        failureWindowHours: { ...hours, default: 24, description: 'After so long without an error, earlier ones are forgotten' },
      },
    },
  },
} as const;

export type AuthConfig = FromSchema<typeof schema>;
export type ConfiguredProfile = NonNullable<AuthConfig['profiles']>[string];
