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
} as const;
