const names = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

const rules = {
  profile: { type: 'string', enum: ['minimal', 'coding', 'messaging', 'full'], description: 'A named set of tools to start from.' },
  alsoAllow: { ...names, description: 'Tools added to the profile.' },
  allow: { ...names, description: 'Only these tools: names, `*` wildcards, `group:fs`. An empty list allows none.' },
  deny: { ...names, description: 'Not these tools; wins over allow.' },
} as const;

export const toolRules = {
  ...rules,
  byProvider: {
    type: 'object',
    description: 'Further rules by `provider` or `provider/model`.',
    additionalProperties: { type: 'object', additionalProperties: false, properties: rules },
  },
} as const;

export const schema = {
  type: 'object',
  description: 'Which tools may be used.',
  additionalProperties: false,
  properties: toolRules,
} as const;
