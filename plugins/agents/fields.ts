/**
 * Fields of agents whose plugin does not exist yet, as their description says. When it does, the property leaves this file
 * and comes back in that plugin as `extends: { 'agents.entry': { … }, 'agents.defaults': { … } }`. Values that count where nobody sets one: `x-default`.
 */
const strings = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const count = { type: 'integer', minimum: 1 } as const;
/** Nobody is to count on what has no effect. */
const unread = <const D extends string>(description: D) => `${description}. No plugin here reads it yet` as const;
const fields = <const P>(description: string, properties: P) =>
  ({ type: 'object', additionalProperties: false, description, properties }) as const;

const modelRef = {
  anyOf: [
    { type: 'string', minLength: 1 },
    fields('A model with the ones to try after it', {
      primary: { type: 'string', minLength: 1, description: 'As provider/model' },
      fallbacks: { ...strings, description: 'Tried in this order where the first one fails' },
    }),
  ],
} as const;

export const fieldsToCome = {
  skills: { ...strings, description: unread('Names of the skills the agent is shown; absent: all that are there; []: none') },
  runtime: fields(unread('What runs the turns'), {
    type: { enum: ['embedded', 'acp'], 'x-default': 'embedded', description: 'acp gives the values below to ACP sessions of this agent' },
    acp: fields('Defaults of ACP sessions of this agent', {
      agent: { type: 'string', description: 'The ACP agent, e.g. codex' },
      backend: { type: 'string', description: 'The ACP backend; absent: the one that is there' },
      mode: { enum: ['persistent', 'oneshot'], description: 'Whether a session is kept for the next turn' },
      cwd: { type: 'string', description: "Folder it works in; absent: the agent's workspace" },
    }),
  }),
  heartbeat: fields(unread('Turns that the agent takes by itself'), {
    every: {
      type: ['string', 'number'],
      examples: ['30m', '1h30m', 45],
      description: 'How often: a duration such as 30m or 1h30m; a bare number is minutes; 0 is never',
    },
  }),
  humanDelay: fields(unread('A pause between the parts of a reply, as a person would make it'), {
    mode: { enum: ['off', 'natural', 'custom'], 'x-default': 'off', description: 'natural: 0.8 to 2.5 s; custom: minMs to maxMs' },
    minMs: { type: 'integer', minimum: 0, description: 'Shortest pause of mode custom' },
    maxMs: { type: 'integer', minimum: 0, description: 'Longest pause of mode custom' },
  }),
  memorySearch: {
    type: 'object',
    description: unread('Search over memory files and past sessions'),
    properties: { enabled: { type: 'boolean', description: 'Whether the agent may search its memory' } },
  },
  subagents: fields('Agents that this one starts', {
    allowAgents: { ...strings, description: 'Agents it may start beside itself, by id; "*" is any, which the security check reports' },
    model: { ...modelRef, description: unread("The children's model; absent: that of the agent they are of") },
    requireAgentId: { type: 'boolean', 'x-default': false, description: unread('Whether a start must name an agent') },
    maxSpawnDepth: { ...count, maximum: 5, 'x-default': 1, description: 'How deep children may start children; 1: they may not' },
    maxChildrenPerAgent: { ...count, maximum: 20, 'x-default': 5, description: unread('Children of one session that work at once') },
    maxConcurrent: { ...count, 'x-default': 8, description: 'Children that work at once, over all sessions' },
  }),
  groupChat: {
    ...fields('How the agent behaves in groups', {
      historyLimit: {
        type: 'integer',
        minimum: 0,
        'x-default': 50,
        description: unread('Messages of the group that it is shown before the one it answers'),
      },
    }),
    'x-place': 'agents.groupChat',
  },
  reasoningDefault: {
    enum: ['off', 'on', 'stream'],
    'x-default': 'off',
    description: unread('Whether its thoughts are shown in the chat'),
  },
  fastModeDefault: { type: 'boolean', 'x-default': false, description: unread("Whether a provider's faster service is asked for") },
} as const;
