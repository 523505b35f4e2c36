import { secretInput } from '../secrets/contract.ts';

const texts = (description: string) => ({ type: 'object', additionalProperties: secretInput, description }) as const;

const server = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean', default: true, description: 'false: this server is left alone.' },
    command: { type: 'string', minLength: 1, description: 'Program to start, which speaks MCP on its input and output.' },
    args: { type: 'array', items: { type: 'string' }, description: 'Its arguments.' },
    env: texts('Its variables, best as ${VARIABLE}. Of ours it gets PATH, HOME and such, and nothing secret.'),
    cwd: { type: 'string', minLength: 1, description: 'Folder to start it in. Default: the state folder.' },
    url: { type: 'string', pattern: '^https?://', description: 'In place of command: a server that speaks streamable HTTP.' },
    headers: texts('Headers of every request to url, best as ${VARIABLE}.'),
    allow: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Tools that run without a question, named as the server names them, with * wildcards. For all others a person is asked.',
    },
    connectTimeoutSeconds: { type: 'integer', minimum: 1, maximum: 300, default: 30, description: 'How long it may take to greet.' },
    timeoutSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: 3600,
      default: 60,
      description: 'How long a call may be silent; progress that the server reports begins it anew, up to ten times as long.',
    },
  },
} as const;

/** `mcp`. */
export const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'Servers of the Model Context Protocol. Their tools are offered as mcp__<server>__<tool>.',
  properties: {
    servers: {
      type: 'object',
      default: {},
      description: 'By name.',
      additionalProperties: server,
      'x-contained': true,
    },
  },
} as const;
