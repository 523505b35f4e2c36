import { definePlugin, Host, KernelError, StartReport } from '../../kernel/index.ts';
import { Inbox } from '../inbox/contract.ts';
import { isSecretRef, secretInput } from '../secrets/contract.ts';
import { SecurityFindings } from '../security/contract.ts';
import { Gateway, type Method, Methods, type Route, Routes } from './contract.ts';
import { Door, openDoor } from './door.ts';
import { findingsOf } from './findings.ts';
import { listen } from './listener.ts';
import { referredToken } from './referred-token.ts';
import { findToken, tokenOf } from './token.ts';

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    port: { type: 'integer', minimum: 0, maximum: 65_535, default: 18_789, description: 'TCP port; 0 takes a free one. --port wins.' },
    bind: { enum: ['loopback', '127.0.0.1'], default: 'loopback', description: 'Only this machine can connect.' },
    auth: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'What whoever connects must show.',
      properties: {
        token: {
          ...secretInput,
          description:
            'Best as ${VARIABLE}, or as { source, provider, id }. Else INSTAR_GATEWAY_TOKEN, else the file token of the state folder, made at the first start.',
        },
      },
    },
    http: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Requests over HTTP.',
      properties: {
        bodyLimit: {
          type: 'integer',
          minimum: 1_024,
          default: 1_048_576,
          description: 'Bytes of a request, where a route names no other.',
        },
        endpoints: { type: 'object', additionalProperties: false, description: 'Switches of single endpoints, owned by their plugins.' },
      },
    },
    allowedOrigins: {
      type: 'array',
      items: { type: 'string', pattern: '^https?://[^/]+$' },
      default: [],
      description: 'Pages elsewhere that may use this gateway, such as "http://localhost:3000". They still need the token.',
    },
  },
} as const;

export default definePlugin({
  name: 'gateway',
  description: 'HTTP and WebSocket on this machine, behind a token',
  required: true,
  config: { at: 'gateway', schema },
  needs: { host: Host },
  provides: [Gateway, Door],
  async setup(ctx) {
    const { config, log, run } = ctx;
    const { host } = ctx.needs;
    const given = config.auth.token;
    const wanted = portOf(host.flags.port) ?? config.port;
    const listener = await ctx.lease(`tcp:127.0.0.1:${wanted}`, () => listen(wanted, host.place('gateway.port'), run, log));
    const { port, failures } = listener;
    const token = isSecretRef(given)
      ? referredToken(ctx, given, ({ id }) => listener.keepOnly(id))
      : tokenOf(await findToken(given, host.env, host.home));
    const url = `http://127.0.0.1:${port}`;

    const { allowedOrigins, http } = config;
    ctx.provide(Door, openDoor({ token, allowedOrigins, bodyLimit: http.bodyLimit, failures, log }));
    ctx.provide(Gateway, {
      url,
      get token() {
        return token.text;
      },
    });
    ctx.tap(Routes, (routes) => [...routes, ready]);
    ctx.tap(Methods, (methods) => ({ ...methods, status }));
    ctx.tap(SecurityFindings, (findings, asked) => [...findings, ...findingsOf(asked)]);
    ctx.tap(StartReport, (lines) => [
      ...lines,
      { label: 'page', value: isSecretRef(given) ? url : `${url}/#token=${encodeURIComponent(token.text)}` },
    ]);
    ctx.onLive(() => {
      listener.live();
      listener.keepOnly(token.id);
      host.announce({ url, port });
    });
  },
});

/** Answers only within a generation: 200 means that a request would be served now. */
const ready: Route = {
  method: 'GET',
  path: '/readyz',
  auth: 'public',
  handle: (exchange) => exchange.reply(200, { ok: true }),
};

const status: Method = async (_params, _client, run) => ({
  inspection: run.get(Host).inspect(),
  report: await run.call(StartReport, []),
  active: run.find(Inbox)?.active() ?? [],
});

function portOf(flag: string | undefined): number | undefined {
  if (flag === undefined) return undefined;
  const port = Number(flag);
  if (/^\d+$/.test(flag) && port <= 65_535) return port;
  throw new KernelError('GATEWAY_PORT_INVALID', `--port ${flag} is no port; give a number from 0 to 65535`, { plugin: 'gateway' });
}
