import { definePlugin } from 'instar';
import { Agents } from 'instar/contracts/agents';
import { Inbox } from 'instar/contracts/inbox';
import { SendDelivery } from 'instar/contracts/outbox';
import { sessionKey } from 'instar/contracts/sessions';

const route = 'check-in:';

export default definePlugin({
  name: 'check-in',
  description: 'A scheduled job: asks an agent the same thing again and again, and logs the answer',
  config: {
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        everySeconds: { type: 'integer', minimum: 1, maximum: 604_800, default: 3600, description: 'By the clock: 3600 is each full hour' },
        ask: { type: 'string', default: 'Is there anything to do?', description: 'What the agent is asked' },
      },
    },
  },
  setup(ctx) {
    const { run, log } = ctx;
    const { ask, everySeconds } = ctx.config;
    const everyMs = everySeconds * 1000;

    const checkIn = () =>
      run(async (live) => {
        const agentId = live.get(Agents).defaultId;
        await live.get(Inbox).enqueue({
          agentId,
          sessionKey: sessionKey(agentId, 'check-in'),
          content: ask,
          provenance: { kind: 'internal_system' },
          subject: { channel: 'check-in', sender: 'internal', session: 'cron' },
          route,
          // Once per slot, whatever was reloaded or restarted in it.
          idempotencyKey: `check-in:${everySeconds}:${Math.floor(Date.now() / everyMs)}`,
        });
      }).catch((error) => log.error('it could not be asked', { error }));

    // Work starts once this instance is live, and ends as soon as another takes its place.
    ctx.onLive(() => {
      let timer: NodeJS.Timeout;
      const wait = () =>
        (timer = setTimeout(() => void checkIn().then(() => ctx.signal.aborted || wait()), everyMs - (Date.now() % everyMs)));
      wait();
      ctx.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });

    ctx.tap(SendDelivery, (delivery) => {
      if (delivery.route !== route) return undefined;
      log.info(`the agent says: ${delivery.payloads.flatMap(({ text }) => text ?? []).join('\n')}`);
      return { kind: 'delivered' };
    });
  },
});
