const names = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

const entry = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      additionalProperties: false,
      required: ['pattern'],
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          description: 'A name found by PATH, or an absolute path; `*` within a folder, `**` across.',
        },
        argPattern: { type: 'string', description: 'Regular expression (RE2) for all arguments, joined by single spaces.' },
        args: { ...names, items: { type: 'string' }, description: 'Exactly these arguments.' },
        sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Only a file with this content.' },
      },
    },
  ],
} as const;

const profile = {
  type: 'object',
  additionalProperties: false,
  properties: {
    minPositional: { type: 'integer', minimum: 0, description: 'How many arguments that are no flags it needs.' },
    maxPositional: { type: 'integer', minimum: 0, description: 'How many it may have. Default 0: no file can be named.' },
    allowedFlags: { ...names, description: 'Flags without a value.' },
    allowedValueFlags: { ...names, description: 'Flags with a value.' },
    deniedFlags: { ...names, description: 'Never these.' },
  },
} as const;

const fields = {
  host: {
    type: 'string',
    enum: ['auto', 'sandbox', 'gateway', 'node'],
    description:
      'Where commands run. auto: in the sandbox of a sandboxed session, else on this machine. A sandboxed session never leaves it.',
  },
  security: {
    type: 'string',
    enum: ['deny', 'allowlist', 'full'],
    description: 'Outside a sandbox. deny: no command runs. allowlist: what is listed runs, the rest is asked for. full: every command.',
  },
  ask: {
    type: 'string',
    enum: ['off', 'on-miss', 'always'],
    description: 'When a person is asked: never (what is not allowed is denied), for what is not allowed, for every command.',
  },
  allow: {
    ...names,
    description: 'Whole command lines that run unasked: these programs with exactly these arguments. None with an input redirection.',
  },
  allowlist: {
    type: 'array',
    items: entry,
    description:
      'Programs that run unasked: a name or absolute path, or {pattern, argPattern | args}. Never shells, interpreters or wrappers.',
  },
  safeBins: {
    ...names,
    description: 'Filters that run unasked while they only read what is piped into them. Each needs a profile; several are built in.',
  },
  safeBinTrustedDirs: { ...names, description: 'Folders besides /bin and /usr/bin in which a safe bin may lie.' },
  safeBinProfiles: {
    type: 'object',
    additionalProperties: profile,
    description: 'Which arguments a safe bin may have, by its name.',
  },
} as const;

export const usual = { host: 'auto', security: 'allowlist', ask: 'on-miss' } as const;
export const usualSafeBins = ['cut', 'head', 'tail', 'tr', 'uniq', 'wc'] as const;

const section = (properties: object, description: string) => ({ type: 'object', additionalProperties: false, description, properties });

/** `tools.exec`. */
export const schema = section(
  {
    ...fields,
    host: { ...fields.host, default: usual.host },
    security: { ...fields.security, default: usual.security },
    ask: { ...fields.ask, default: usual.ask },
    safeBins: { ...fields.safeBins, default: usualSafeBins },
  },
  'Commands: where they run, which run unasked, and when a person is asked.',
);

/** `tools.exec` of one agent, or of the defaults: what is not set there is that of `tools.exec`; lists add to it. */
export const agentExecSchema = section(
  fields,
  'Commands of this agent: what it sets counts in place of tools.exec; its allow and allowlist add to it.',
);
