import { definePlugin } from '../../kernel/index.ts';
const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'x' },
    auth: {
      type: 'object',
      additionalProperties: false,
      properties: { token: { type: 'string', minLength: 1, description: 'Else' } },
    },
  },
} as const;
export default definePlugin({
  name: 'gateway',
  description: 'HTTP and WebSocket on this machine, behind a token',
  config: { at: 'gateway', schema },
  setup(ctx) {
    const x: number = ctx.config.port;
    const y: string | undefined = ctx.config.auth?.token;
    void x; void y;
  },
});
