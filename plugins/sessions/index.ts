import { definePlugin } from '../../kernel/index.ts';
import { Store } from '../store/contract.ts';
import { Agents } from '../agents/contract.ts';
import { Sessions, SessionSettings } from './contract.ts';
import { durationMs } from './duration.ts';
import { sweepEphemeral } from './ephemeral.ts';
import { openSessions } from './sessions.ts';
import { transcriptCache } from './transcript.ts';
import { tables } from './session-rows.ts';

const schema = {
  type: 'object',
  additionalProperties: false,
  'x-place': 'session',
  properties: {
    ephemeralTtl: {
      anyOf: [{ type: 'string' }, { type: 'number' }],
      default: '24h',
      description: 'How long transcripts of stateless API calls are kept.',
    },
    limitHistoryTurns: {
      type: 'integer',
      minimum: 1,
      description: 'How many turns of a session the model is shown, each whole. Default: all.',
    },
    reset: { type: 'object', description: 'When a session begins anew by itself.' },
    agentToAgent: { type: 'object', description: 'Messages from one agent to another.' },
  },
} as const;

export default definePlugin({
  name: 'sessions',
  description: 'Conversations: keys, transcripts, history that every provider takes',
  required: true,
  config: { at: 'session', schema },
  needs: { store: Store },
  provides: [Sessions, SessionSettings],
  async setup(ctx) {
    const { store } = ctx.needs;
    await store.migrate('sessions', tables);
    const ttlMs = durationMs(ctx.config.ephemeralTtl ?? '24h', 'session.ephemeralTtl');
    const cache = await ctx.lease('sessions.transcripts', transcriptCache);
    const folders = (agentId: string) =>
      ctx.run((run) => ({ dir: run.get(Agents).dir(agentId), workspace: run.get(Agents).workspace(agentId) }));
    const sessions = openSessions({ historyTurns: ctx.config.limitHistoryTurns, store, cache, folders, log: ctx.log });
    ctx.provide(Sessions, sessions);
    ctx.provide(SessionSettings, ctx.config);
    ctx.onLive(() => {
      const sweep = () =>
        void sweepEphemeral(store, sessions, ttlMs, ctx.log).catch((error) =>
          ctx.log.error('sweep of ephemeral sessions failed', { error }),
        );
      const timer = setInterval(sweep, 3_600_000).unref();
      ctx.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
      sweep();
    });
  },
});
