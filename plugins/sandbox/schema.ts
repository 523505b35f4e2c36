const strings = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const fields = <const P>(description: string, properties: P) =>
  ({ type: 'object', additionalProperties: false, description, properties }) as const;

/** A path that a bind is made of: absolute, without the characters that would make it something else. */
const hostPath = { type: 'string', pattern: '^/[^\\0\\n]+$' } as const;

/** Field `sandbox` of an agent and of `agents.defaults`. */
export const sandbox = fields('Where the commands and file tools of this agent run', {
  mode: {
    enum: ['off', 'non-main', 'all'],
    'x-default': 'off',
    description: 'Which sessions are sandboxed: none, all but the main one, all',
  },
  backend: { type: 'string', minLength: 1, description: 'What isolates: bubblewrap or docker; absent: the first of them that works here' },
  workspaceAccess: {
    enum: ['none', 'ro', 'rw'],
    'x-default': 'none',
    description: "What the sandbox has of the agent's workspace; with none it gets an empty folder of its own in its place",
  },
  scope: {
    enum: ['session', 'agent', 'shared'],
    'x-default': 'agent',
    description: 'What shares one sandbox: its own folder, /tmp and home',
  },
  network: { type: 'boolean', 'x-default': false, description: 'Whether commands in the sandbox reach the network' },
  readable: {
    ...strings,
    items: hostPath,
    'x-default': [],
    description: 'Further folders of this machine that commands may read, such as /opt; the system folders are there anyway',
  },
  env: {
    type: 'object',
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
    additionalProperties: { type: 'string' },
    description: 'Variables that commands in the sandbox get',
  },
  limits: fields('What one command may take', {
    memoryMb: {
      type: 'integer',
      minimum: 16,
      'x-default': 2048,
      description: 'Memory: of each process (bubblewrap), of all together (docker)',
    },
    processes: { type: 'integer', minimum: 4, 'x-default': 256, description: 'Processes at once' },
    fileMb: { type: 'integer', minimum: 1, 'x-default': 1024, description: 'Size of a file that it writes' },
  }),
  docker: fields('For backend docker', {
    image: {
      type: 'string',
      pattern: '^[a-z0-9][\\w./:@-]*$',
      'x-default': 'debian:bookworm-slim',
      description: 'Image; it must be there, it is not pulled',
    },
    network: {
      type: 'string',
      pattern: '^[\\w.-]+$',
      description: 'Name of a network instead of none, or of bridge where network is true',
    },
    user: {
      type: 'string',
      pattern: '^\\w+(:\\w+)?$',
      description: 'User and group inside, e.g. 1000:1000. Default: those of the gateway',
    },
    cpus: { type: 'number', exclusiveMinimum: 0, description: 'Processors, e.g. 1.5. Default: all' },
  }),
});
