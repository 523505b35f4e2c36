const name = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' } as const;
const strings = { type: 'array', items: { type: 'string' } } as const;
const model = {
  anyOf: [
    { type: 'string' },
    { type: 'object', additionalProperties: false, properties: { primary: { type: 'string' }, fallbacks: strings } },
  ],
} as const;

/** Fields that an agent and the defaults share. Plugins that use a field refine it through `agents.entry` and `agents.defaults`. */
const shared = {
  workspace: { type: 'string', description: 'Folder the agent works in. Default <home>/workspace, for others <home>/workspace-<id>.' },
  model,
  skills: strings,
  sandbox: { type: 'object' },
  tools: { type: 'object' },
  runtime: { type: 'object' },
  heartbeat: { type: 'object' },
  groupChat: { type: 'object' },
  humanDelay: { type: 'object' },
  memorySearch: { type: 'object' },
  subagents: { type: 'object' },
  params: { type: 'object', description: 'Model parameters such as temperature and maxTokens.' },
  thinkingDefault: { type: 'string', enum: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
  reasoningDefault: { type: 'string', enum: ['off', 'on', 'stream'] },
  fastModeDefault: { type: 'boolean' },
} as const;

export const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    defaults: {
      type: 'object',
      additionalProperties: false,
      'x-place': 'agents.defaults',
      properties: {
        ...shared,
        maxConcurrent: { type: 'integer', minimum: 1, description: 'Turns that run at once, over all sessions.' },
        timeoutSeconds: { type: 'number', minimum: 1 },
        userTimezone: { type: 'string' },
      },
    },
    list: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id'],
        'x-place': 'agents.entry',
        properties: {
          ...shared,
          id: name,
          default: { type: 'boolean' },
          name: { type: 'string' },
          agentDir: { type: 'string' },
          identity: {
            type: 'object',
            additionalProperties: false,
            properties: { name: { type: 'string' }, theme: { type: 'string' }, emoji: { type: 'string' }, avatar: { type: 'string' } },
          },
        },
      },
    },
  },
} as const;
