import { funnel, type KernelCode, KernelError } from './error.ts';
import type { Identity } from './identity.ts';
import { type LeasePool, within } from './lease.ts';
import { type LogSink, logOf } from './log.ts';
import type { Entry } from './order.ts';
import type { Context, TapOptions } from './plugin.ts';
import type { EnterRun, Run } from './run.ts';
import type { Hook } from './token.ts';

/** What instances share of the kernel. Times in milliseconds. */
export interface Around {
  readonly pool: LeasePool;
  readonly enter: EnterRun;
  readonly sink: LogSink;
  readonly report: (error: unknown) => void;
  readonly setupMs: number;
  readonly disposeMs: number;
}

export interface Tap extends TapOptions {
  readonly hook: Hook<unknown, unknown>;
  readonly fn: (value: unknown, run: Run) => unknown;
}

export type Instance = ReturnType<typeof instance>;

/** One plugin, live at one identity. Shared by every generation that holds it; disposed when the last lets go. */
export function instance(number: number, identity: Identity, entry: Entry, around: Around) {
  const { pool, enter, report, setupMs, disposeMs } = around;
  const { plugin } = entry;
  const taps: Tap[] = [];
  const services = new Map<string, unknown>();
  const leases = new Set<string>();
  const starts: (() => void | Promise<void>)[] = [];
  const undo = new AsyncDisposableStack();
  const abort = new AbortController();
  const swapped = Promise.withResolvers<void>();
  swapped.promise.catch(() => {}); // a candidate may be dropped with nobody waiting for it
  let inSetup = true;
  let generations = 0;

  const failure = (code: KernelCode, what: string, cause?: unknown) =>
    new KernelError(code, `plugin "${plugin.name}" ${what}`, { plugin: plugin.name, cause });

  function early(what: string) {
    if (!inSetup)
      throw failure(
        'PLUGIN_LATE',
        `called ${what} after setup; what changes by itself belongs in a tap with a version`,
      );
  }

  /** A disposer that throws or hangs is reported, and the rest are still undone. */
  async function clean(dispose: () => void | Promise<void>) {
    const late = failure(
      'DISPOSE_TIMEOUT',
      `has a disposer that did not settle in ${disposeMs} ms; it was left behind`,
    );
    const failed = (cause: unknown) =>
      report(cause === late ? late : failure('DISPOSE_FAILED', 'has a disposer that threw', cause));
    await within(disposeMs, late, async () => dispose()).catch(failed);
  }

  const context = (config: unknown, needs: object): Context<Record<string, never>> => ({
    config,
    needs: needs as never,
    signal: abort.signal,
    log: logOf(around.sink, plugin.name),
    run: (work, options) => (self.since ? enter(work, options) : swapped.promise.then(() => enter(work, options))),
    tap(hook, fn, options) {
      early('tap');
      taps.push({ hook, fn, ...(typeof options === 'number' ? { stage: options } : options) } as Tap);
    },
    provide(token, value) {
      early('provide');
      const declared = plugin.provides?.some(({ id }) => id === token.id);
      if (!declared)
        throw failure('SERVICE_UNDECLARED', `provides "${token.id}" without declaring it; add it to provides`);
      services.set(token.id, value);
    },
    async lease(key, create) {
      early('lease');
      if (!leases.has(key)) undo.defer(() => pool.release(key, self));
      leases.add(key);
      return pool.acquire(key, self, create);
    },
    defer(dispose) {
      if (undo.disposed) void clean(dispose);
      else undo.defer(() => clean(dispose));
    },
    onLive(start) {
      early('onLive');
      starts.push(start);
    },
  });

  const self = {
    ...{ number, identity, entry, taps, services, leases, name: plugin.name },
    /** The generation it came live in; 0 before the swap. */
    since: 0,
    setupMs: 0,

    async setup(config: unknown, needs: object) {
      const began = performance.now();
      const late = failure(
        'SETUP_TIMEOUT',
        `did not finish setup in ${setupMs} ms; what waits there belongs in onLive`,
      );
      try {
        await within(setupMs, late, async () => plugin.setup(context(config, needs) as never));
      } catch (cause) {
        throw cause === late ? late : funnel(cause, 'SETUP_FAILED', { plugin: plugin.name });
      } finally {
        inSetup = false;
      }
      const missing = plugin.provides?.find((token) => !services.has(token.id));
      if (missing) throw failure('SERVICE_MISSING', `declares "${missing.id}" but never provided it`);
      self.setupMs = performance.now() - began;
    },

    /** After the swap: intake begins. Joins the generation either way. */
    join(generation: number) {
      generations++;
      if (self.since) return;
      self.since = generation;
      swapped.resolve();
      const failed = (cause: unknown) => report(funnel(cause, 'HOOK_FAILED', { plugin: plugin.name, hook: 'onLive' }));
      for (const start of starts) void (async () => start())().catch(failed);
    },

    /** Disposed with the last generation that holds it. */
    async leave() {
      if (--generations === 0) await self.dispose();
    },

    retire: () => abort.abort(failure('PLUGIN_RETIRED', 'left the current generation')),

    async dispose() {
      swapped.reject(failure('CANDIDATE_DROPPED', 'was part of a candidate that was rejected'));
      self.retire();
      await undo.disposeAsync().catch(report);
    },
  };
  return self;
}
