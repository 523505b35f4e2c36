import { fieldsToCome } from './fields.ts';

const name = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
  description: 'Its name for the config, sessions and commands: letters, digits, _ and -; case does not tell agents apart',
} as const;
const text = (description: string) => ({ type: 'string', description }) as const;

/** Fields that an agent and the defaults share. Further ones come from the plugins that use them. */
export const shared = {
  ...fieldsToCome,
  workspace: text(
    'Folder the agent works in; ~ is your home. Default: workspace in the state folder, for others than the default agent workspace-<id>',
  ),
  // No fields of ours: `faults.ts` says where to write instead.
  systemPrompt: {
    deprecated: true,
    description: 'Refused: an agent has none. The persona goes into SOUL.md of its workspace, rules into AGENTS.md',
  },
  maxTokens: { deprecated: true, description: 'Refused: write params.maxTokens' },
} as const;

export const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'The agents, as data',
  properties: {
    defaults: {
      type: 'object',
      additionalProperties: false,
      'x-place': 'agents.defaults',
      description: 'What counts for every agent that does not say otherwise, field by field',
      properties: {
        ...shared,
        maxConcurrent: { type: 'integer', minimum: 1, description: 'Turns that run at once, over all sessions. Default: 4' },
        userTimezone: text("Time zone of the people it talks to, e.g. Europe/Berlin. Default: this machine's"),
      },
    },
    list: {
      type: 'array',
      description: 'The agents; without any there is one, "main"',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id'],
        'x-place': 'agents.entry',
        properties: {
          ...shared,
          id: name,
          default: { type: 'boolean', description: 'Answers what is addressed to no agent. Default: the first of the list' },
          name: text('What people call it. Default: its id'),
          agentDir: text('Folder of its sessions and state. Default: agents/<id> in the state folder; no two agents may share one'),
          identity: {
            type: 'object',
            additionalProperties: false,
            description: 'How it presents itself',
            properties: {
              name: text('What it calls itself'),
              theme: text('Its manner, in a few words'),
              emoji: text('Its sign in chats'),
              avatar: text('Picture: a file in the workspace, or an address'),
            },
          },
        },
      },
    },
  },
} as const;
