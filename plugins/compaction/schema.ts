const tokens = { type: 'integer', minimum: 0 } as const;

/** Fields of an agent, and of the defaults. */
export const agentFields = {
  compaction: {
    type: 'object',
    additionalProperties: false,
    description: 'What becomes of a conversation that its model cannot hold',
    properties: {
      mode: {
        enum: ['default', 'safeguard', 'off'],
        'x-default': 'default',
        description: 'default and safeguard: older parts are summarised, in pieces where they are long; off: such a request fails',
      },
      reserveTokens: {
        ...tokens,
        'x-default': 16_384,
        description: 'Tokens of the context window that are kept free for the answer; never more than half of it',
      },
      keepRecentTokens: { ...tokens, 'x-default': 20_000, description: 'Tokens of the newest turns that stay as they are' },
      timeoutSeconds: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 3600,
        'x-default': 180,
        description: 'How long the summary may take',
      },
      customInstructions: { type: 'string', description: 'What a summary of this agent should hold beside the usual' },
    },
  },
} as const;
