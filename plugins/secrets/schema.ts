const providerName = { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$' } as const;
const strings = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

export const provider = {
  type: 'object',
  additionalProperties: false,
  required: ['source'],
  properties: {
    source: { type: 'string', enum: ['env', 'file', 'exec'], description: 'What has the secrets: the environment, a file, a program' },
    allowlist: { ...strings, description: 'env: only these variables. Default: any' },
    path: { type: 'string', minLength: 1, description: 'file: the file; ~ is your home' },
    mode: {
      type: 'string',
      enum: ['json', 'singleValue'],
      default: 'json',
      description: 'file: JSON, of which an id is a pointer such as /openai/key; or one secret, whose id is "value"',
    },
    allowInsecurePath: { type: 'boolean', default: false, description: 'file, exec: also what other users may write' },
    command: { type: 'string', pattern: '^/', description: 'exec: the program, by its absolute path; no shell reads it' },
    args: { ...strings, default: [], description: 'exec: its arguments' },
    passEnv: { ...strings, default: [], description: 'exec: variables it gets; it gets no others' },
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description: 'exec: further variables, with their values',
    },
    trustedDirs: { ...strings, description: 'exec: folders one of which the program must lie in, links followed. Default: any' },
    allowSymlinkCommand: { type: 'boolean', default: false, description: 'exec: command may be a link, as package managers make them' },
    jsonOnly: { type: 'boolean', default: true, description: 'exec: it answers in JSON; false: what it prints may be the secret itself' },
    timeoutMs: { type: 'integer', minimum: 100, maximum: 120_000, default: 5000, description: 'exec: milliseconds it may take' },
    noOutputTimeoutMs: {
      type: 'integer',
      minimum: 100,
      maximum: 120_000,
      description: 'exec: milliseconds it may be silent. Default: timeoutMs',
    },
    maxOutputBytes: { type: 'integer', minimum: 1, maximum: 10_485_760, default: 1_048_576, description: 'exec: bytes it may print' },
    maxBytes: { type: 'integer', minimum: 1, maximum: 10_485_760, default: 1_048_576, description: 'file: its largest size' },
  },
} as const;

export const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'Where secrets are that the config refers to by { source, provider, id }',
  properties: {
    providers: { type: 'object', additionalProperties: provider, 'x-contained': true, description: 'By the name that references use' },
    defaults: {
      type: 'object',
      additionalProperties: false,
      description: 'The provider of references that name none. Default: the one named "default"',
      properties: {
        env: { ...providerName, description: 'Of references to the environment' },
        file: { ...providerName, description: 'Of references to a file' },
        exec: { ...providerName, description: 'Of references to a program' },
      },
    },
    refreshSeconds: {
      type: 'number',
      minimum: 0,
      default: 300,
      description: 'How long what a program answered is used before it is asked again',
    },
    resolution: { type: 'object', description: 'Accepted from existing configs; has no effect here' },
  },
} as const;
