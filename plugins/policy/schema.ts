import { agentExecSchema } from '../tools-exec/contract.ts';

const names = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

const lists = {
  allow: { ...names, 'x-safety': true, description: 'Only these tools: names, `*` wildcards, `group:fs`. An empty list allows none.' },
  deny: { ...names, 'x-safety': true, description: 'Not these tools; wins over allow.' },
} as const;

const rules = {
  profile: {
    'x-safety': true,
    type: 'string',
    enum: ['minimal', 'coding', 'messaging', 'full'],
    description: 'A named set of tools to start from.',
  },
  alsoAllow: { ...names, description: 'Tools added to the profile.' },
  ...lists,
} as const;

const confined = (description: string, usual: string) =>
  ({
    type: 'object',
    additionalProperties: false,
    description,
    properties: {
      tools: {
        type: 'object',
        additionalProperties: false,
        description: 'Narrows further what the other rules left',
        properties: {
          ...lists,
          alsoAllow: { ...names, description: `Tools given back, by name, of those that ${usual}; restricts nothing.` },
        },
      },
    },
  }) as const;

const sandbox = confined('Tools of sandboxed sessions', 'a sandboxed session loses by default');

const toolRules = {
  ...rules,
  byProvider: {
    type: 'object',
    description: 'Further rules by `provider` or `provider/model`.',
    additionalProperties: { type: 'object', additionalProperties: false, properties: rules },
  },
  sandbox,
} as const;

/** Config `tools`. */
export const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'Which tools are offered and may be called.',
  properties: { ...toolRules, subagents: confined('Tools of sub-agents', 'every sub-agent loses by default') },
} as const;

/** `tools` of an agent, and of `agents.defaults`. */
export const agentSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'Which tools are offered to this agent and may be called by it.',
  properties: { ...toolRules, exec: agentExecSchema },
} as const;

const groupRules = {
  type: 'object',
  additionalProperties: false,
  properties: { ...lists, alsoAllow: { ...names, description: 'Tools added to allow; a group has no profile.' } },
} as const;

/** Of one group of a channel. */
export const groupSchema = {
  tools: { ...groupRules, description: 'Tools in this group: narrows what the agent has' },
  toolsBySender: {
    type: 'object',
    description: 'The same for one sender, in place of `tools`; by stable id (`123`, `id:123`, `e164:+49…`), `*` for everybody else',
    additionalProperties: groupRules,
  },
} as const;
