export const amount = { type: 'number', minimum: 0 } as const;

export const limit = <const D extends string>(description: D) =>
  ({
    type: 'object',
    additionalProperties: false,
    description,
    'x-safety': true,
    properties: {
      tokens: { type: 'integer', minimum: 1, description: 'Tokens sent and answered, cached ones too' },
      usd: { type: 'number', exclusiveMinimum: 0, description: 'US dollars' },
    },
  }) as const;

/** What happens at a limit. */
export const handling = {
  onLimit: {
    enum: ['refuse', 'downgrade', 'ask'],
    description: 'refuse: the request is not sent; downgrade: near the limit downgradeTo answers; ask: a person may let it go on',
  },
  downgradeTo: { type: 'string', pattern: '^[^/]+/.+', description: 'The cheaper model, as provider/model' },
} as const;
