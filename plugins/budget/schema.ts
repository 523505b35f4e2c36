import { amount, handling, limit } from './limit-schema.ts';

export const budgetSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'What may be spent on models',
  properties: {
    day: limit('What all agents together may spend in a day'),
    session: limit('What each session may spend, with its children, as long as it lives'),
    run: limit('What one turn may spend, with its children'),
    ...handling,
    onLimit: { ...handling.onLimit, default: 'refuse' },
    downgradeAt: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      default: 0.8,
      description: 'The part of a limit from which on downgradeTo answers',
    },
    timeZone: { type: 'string', description: "Whose days count. Default: agents.defaults.userTimezone, else this machine's" },
    reserveOutputTokens: {
      type: 'integer',
      minimum: 1,
      default: 8192,
      description: 'Tokens that are reserved for an answer at most; what it takes beyond counts once it is there',
    },
    keepDays: { type: 'integer', minimum: 1, default: 90, description: 'How long single requests are kept; then sums per day are' },
    prices: {
      type: 'object',
      description: 'Prices by provider/model; they win over those of models.providers and over the known ones',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        description: 'US dollars per million tokens',
        required: ['input', 'output'],
        properties: {
          input: { ...amount, description: 'Of what it is sent' },
          output: { ...amount, description: 'Of what it answers' },
          cacheRead: { ...amount, description: 'Of what the provider had cached. Default: as input' },
          cacheWrite: { ...amount, description: 'Of what the provider newly cached. Default: as input' },
        },
      },
    },
  },
} as const;

/** Fields of an agent, and of the defaults. */
export const agentFields = {
  budget: {
    type: 'object',
    additionalProperties: false,
    description: 'What this agent may spend on models; the limits of `budget` hold as well',
    properties: {
      day: limit('What the agent may spend in a day'),
      total: limit('What the agent may spend altogether, until "instar budget reset"'),
      session: limit('What each of its sessions may spend'),
      run: limit('What one of its turns may spend, with its children'),
      ...handling,
    },
  },
} as const;
