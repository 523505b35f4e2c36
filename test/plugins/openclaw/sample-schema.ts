/** A small schema of the composed form, that no new plugin changes. */
const text = { type: 'string' };
const object = (properties: object, more: object = {}) => ({ type: 'object', additionalProperties: false, properties, ...more });
const model = { anyOf: [text, object({ primary: text, fallbacks: { type: 'array', items: text } })], 'x-plugin': 'models' };
const shared = {
  model,
  thinkingDefault: { enum: ['off', 'low', 'high', 'max'] },
  sandbox: object({ mode: { enum: ['off', 'all'] } }),
  heartbeat: object({ every: text }, { 'x-plugin': 'heartbeat' }),
  subagents: object({ allowAgents: { type: 'array', items: text } }),
};
const match = object({ channel: text, peer: object({ kind: text, id: text }) });
const provider = object(
  {
    baseUrl: { type: 'string', pattern: '^https?://' },
    apiKey: text,
    api: { enum: ['openai-completions', 'anthropic-messages'] },
    models: { type: 'array', items: object({ id: text, contextWindow: { type: 'integer' } }, { required: ['id'] }) },
  },
  { required: ['baseUrl', 'models'] },
);

export const sampleSchema = object({
  compat: { enum: ['openclaw', 'none'], 'x-plugin': 'openclaw' },
  agents: object(
    {
      defaults: object(shared),
      list: {
        type: 'array',
        items: object({
          ...shared,
          id: text,
          systemPrompt: { deprecated: true, description: 'Refused: write AGENTS.md' },
          default: { type: 'boolean' },
          agentDir: text,
          identity: object({ name: text }),
        }),
      },
    },
    { 'x-plugin': 'agents' },
  ),
  bindings: {
    type: 'array',
    'x-plugin': 'routing',
    items: object({ type: { enum: ['route'] }, agentId: text, match }),
  },
  models: object({ providers: { type: 'object', 'x-contained': true, additionalProperties: provider } }, { 'x-plugin': 'models' }),
  gateway: object(
    {
      port: { type: 'integer' },
      bind: { enum: ['loopback'] },
      auth: object({ token: text }),
      allowedOrigins: { type: 'array', items: text },
    },
    { 'x-plugin': 'gateway' },
  ),
  tools: object({ deny: { type: 'array', items: text } }, { 'x-plugin': 'policy' }),
  session: object({ dmScope: text, reset: { type: 'object' } }, { 'x-plugin': 'sessions' }),
  plugins: object({ entries: { type: 'object', additionalProperties: object({ enabled: { type: 'boolean' }, config: {} }) } }),
});
