import type { JsonSchema } from '../../kernel/index.ts';
import type { DmScope } from './session-key.ts';

/** An entry of `bindings`, as the config has it. */
export interface Binding {
  readonly type?: 'route';
  readonly agentId: string;
  readonly comment?: string;
  readonly match: Match;
  /** For the direct chats that this binding takes. */
  readonly session?: { readonly dmScope?: DmScope };
}
export interface Match {
  readonly channel: string;
  readonly accountId?: string;
  readonly peer?: { readonly kind: 'direct' | 'dm' | 'group' | 'channel'; readonly id: string | number };
  readonly guildId?: string | number;
  readonly teamId?: string | number;
  readonly roles?: readonly (string | number)[];
}

/** Existing configs have long ids as numbers, too. */
const id = (description: string) => ({ type: ['string', 'integer'], minLength: 1, description });

const match = {
  type: 'object',
  additionalProperties: false,
  required: ['channel'],
  description: 'All that is given here must fit the message',
  properties: {
    channel: { type: 'string', minLength: 1, description: 'Where the message came by, such as `telegram`, `slack`, `webchat`' },
    accountId: {
      type: 'string',
      description: 'The account of the channel that received it. Default: the one named `default`; `*` is any',
    },
    peer: {
      type: 'object',
      additionalProperties: false,
      required: ['kind', 'id'],
      description: 'One chat, its threads included. The most specific of all',
      properties: {
        kind: { enum: ['direct', 'dm', 'group', 'channel'], description: '`dm` is `direct`; `group` and `channel` fit each other' },
        id: id('As the platform has it; `<chat>:topic:<thread>` is one thread of it, `*` every chat of this kind'),
      },
    },
    guildId: id('Discord server'),
    teamId: id('Slack workspace, or team'),
    roles: {
      type: 'array',
      items: { type: ['string', 'integer'] },
      description: 'Role ids: the sender has at least one of them. An empty list asks for nothing',
    },
  },
};

const dmScopes: readonly DmScope[] = ['main', 'per-peer', 'per-channel-peer', 'per-account-channel-peer'];

export const schema: JsonSchema = {
  type: 'array',
  'x-safety': true,
  description: 'Which agent a message is for. The most specific that fits wins, of equals the first; without any, the default agent',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['agentId', 'match'],
    properties: {
      type: { enum: ['route'], description: 'A binding routes; nothing else yet' },
      agentId: { type: 'string', minLength: 1, description: 'An id of `agents.list`' },
      comment: { type: 'string', description: 'For people; `instar route explain` shows it' },
      match,
      session: {
        type: 'object',
        additionalProperties: false,
        description: 'In place of the fields of `session`, for what this binding takes',
        properties: { dmScope: { enum: dmScopes, description: 'Which of its direct chats share a session' } },
      },
    },
  },
};

export const sessionFields: JsonSchema = {
  dmScope: {
    'x-safety': true,
    enum: dmScopes,
    default: 'main',
    description:
      'Which direct chats share a session: all of an agent (`main`), those of one person, of one person on one channel, or on one account of it. `main` shows each person what the others wrote: for one user alone',
  },
  mainKey: { type: 'string', default: 'main', description: 'Name of the session that direct chats share' },
  identityLinks: {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description:
      'A person’s ids on several channels under one name, `{ alice: ["telegram:123", "discord:456"] }`; for all scopes but `main`',
  },
};

export const groupChatFields: JsonSchema = {
  mentionPatterns: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 500 },
    examples: [['@?claw', '\\bclaw\\b']],
    description:
      'Regular expressions, case ignored: a text that one of them fits is meant for this agent. Absent: the name and emoji of its identity',
  },
};
