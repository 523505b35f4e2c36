const ref = { type: 'string', minLength: 1 } as const;

/** What this plugin adds to agents and to their defaults. */
export const agentFields = {
  model: {
    description:
      'Which model answers, as provider/id; or with those to try after it. Fallbacks given here, even none, replace those of the defaults',
    anyOf: [
      ref,
      {
        type: 'object',
        additionalProperties: false,
        properties: {
          primary: { ...ref, description: 'The model that answers' },
          fallbacks: { type: 'array', items: ref, description: 'Models to try after it, in this order' },
        },
      },
    ],
  },
  thinkingDefault: {
    type: 'string',
    enum: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    'x-default': 'off',
    description: 'How much it thinks before it answers. Asked only of models that can: `reasoning: true`',
  },
  params: {
    type: 'object',
    additionalProperties: false,
    description: 'Parameters of the requests to its models',
    properties: {
      temperature: {
        type: 'number',
        minimum: 0,
        maximum: 2,
        description: 'How freely it chooses words. OpenAI’s models that think are not told: they refuse it',
      },
      maxTokens: { type: 'integer', minimum: 1, description: "Tokens an answer may have, up to the model's own maxTokens" },
    },
  },
} as const;
