import { definePlugin, notify, StartReport } from 'instar';
import { Agents } from 'instar/contracts/agents';
import { Inbox } from 'instar/contracts/inbox';
import { SendDelivery } from 'instar/contracts/outbox';
import { sessionKey } from 'instar/contracts/sessions';
import { listen } from './server.ts';

/** What came in, raw. The socket knows this token alone, so the newest code handles its lines, whoever opened it. */
const LineCame = notify<{ readonly from: string; readonly line: string }>('tcp-lines.line');
const scheme = 'tcp-lines:';

export default definePlugin({
  name: 'tcp-lines',
  description: 'A channel: each line over TCP is a message, and the answer comes back; a reload drops no connection',
  config: {
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        port: { type: 'integer', minimum: 0, maximum: 65_535, default: 0, description: 'On this machine; 0 takes a free one' },
      },
    },
  },
  async setup(ctx) {
    const { run } = ctx; // opens a run on what is live then, also once this instance is gone
    const { port } = ctx.config;
    const server = await ctx.lease(`tcp-lines:${port}`, () =>
      listen(port, (from, line) => void run((live) => live.call(LineCame, { from, line }))),
    );

    ctx.tap(LineCame, async ({ from, line }, live) => {
      const agentId = live.get(Agents).defaultId;
      await live.get(Inbox).enqueue({
        agentId,
        sessionKey: sessionKey(agentId, scheme + from),
        content: line,
        provenance: { kind: 'external_user', channel: 'tcp-lines' },
        // Anybody on this machine can connect: nobody proved to be the owner.
        subject: { channel: 'tcp-lines', sender: 'unknown', session: 'direct' },
        route: scheme + from,
      });
    });

    ctx.tap(SendDelivery, ({ route, payloads }) => {
      if (!route.startsWith(scheme)) return undefined;
      const text = payloads.flatMap((payload) => payload.text ?? []).join('\n');
      return server.send(route.slice(scheme.length), text) ? { kind: 'delivered' } : { kind: 'gone', why: 'the connection is closed' };
    });

    ctx.tap(StartReport, (report) => [...report, { label: 'tcp-lines', value: `127.0.0.1:${server.port}` }]);
  },
});
