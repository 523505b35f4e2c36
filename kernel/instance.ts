import { hash } from 'node:crypto';
import { funnel, type KernelCode, KernelError } from './error.ts';
import type { Kernel } from './kernel.ts';
import { within } from './lease.ts';
import { logOf } from './log.ts';
import type { Entry } from './order.ts';
import type { Context, TapOptions } from './plugin.ts';
import type { Run } from './run.ts';
import type { Hook } from './token.ts';

export type AnyHook = Hook<never, unknown>;
export interface Tap extends TapOptions {
  readonly plugin: string;
  readonly hook: AnyHook;
  readonly stage: number;
  readonly fn: (value: unknown, run: Run) => unknown;
}

/** What makes an instance the same one, by what is said where it differs: hashes (secrets stay unread), and a number per need. */
export type Identity = Readonly<Record<string, string | number>>;

export type Instance = Awaited<ReturnType<typeof setUp>>;
let made = 0;

/** Makes an instance: one plugin, live at one identity, shared by all generations that hold it. A setup that fails is undone. */
export async function setUp(kernel: Kernel, entry: Entry, identity: Identity, config: unknown, needs: Context['needs']) {
  const { plugin, source, isAnew } = entry;
  const { name, provides = [] } = plugin;
  const { setupMs, disposeMs, sink } = kernel.options;
  const holder = {};
  const taps: Tap[] = [];
  const services = new Map<string, unknown>();
  const leases = new Set<string>();
  const starts: (() => void | Promise<void>)[] = [];
  const undo = new AsyncDisposableStack();
  const abort = new AbortController();
  const live = Promise.withResolvers<void>();
  live.promise.catch(() => {}); // a candidate may be dropped with nobody waiting for it
  let isInSetup = true;

  const failure = (code: KernelCode, what: string) => new KernelError(code, `plugin "${name}" ${what}`, { plugin: name });
  const reportFrom = (code: KernelCode, hook: string) => (cause: unknown) => kernel.report(funnel(cause, code, { plugin: name, hook }));
  const onlyInSetup = (what: string) => {
    if (!isInSetup) throw failure('PLUGIN_LATE', `called ${what} after setup; what changes by itself belongs in a tap with a version`);
  };
  /** A disposer that throws or hangs is reported, and the rest are still undone. */
  const clean = async (dispose: () => void | Promise<void>) => {
    const late = failure('DISPOSE_TIMEOUT', `has a disposer that did not settle in ${disposeMs} ms; it was left behind`);
    await within(disposeMs, late, async () => dispose()).catch(reportFrom('DISPOSE_FAILED', 'defer'));
  };

  const given = { config, needs, signal: abort.signal, log: logOf(sink, name) };
  const context: Context = {
    ...given,
    run: (work, options) => live.promise.then(() => kernel.run(work, options)),
    tap(hook, fn, options = 0) {
      onlyInSetup('tap');
      const { stage = 0, version }: TapOptions = typeof options === 'number' ? { stage: options } : options;
      taps.push({ plugin: name, hook, fn, stage, version } as Tap);
    },
    provide({ id }, value) {
      onlyInSetup('provide');
      const isDeclared = provides.some((token) => token.id === id);
      if (!isDeclared) throw failure('SERVICE_UNDECLARED', `provides "${id}" without declaring it; add it to provides`);
      services.set(id, value);
    },
    async lease(key, create) {
      onlyInSetup('lease');
      leases.add(key);
      undo.defer(() => kernel.leases.release(key, holder));
      return kernel.leases.acquire(key, holder, create, isAnew);
    },
    defer: (dispose) => (undo.disposed ? void clean(dispose) : undo.defer(() => clean(dispose))),
    onLive(start) {
      onlyInSetup('onLive');
      starts.push(start);
    },
  };

  const retire = () => abort.abort(failure('PLUGIN_RETIRED', 'left the current generation'));
  const dispose = async () => {
    live.reject(failure('CANDIDATE_DROPPED', 'was part of a candidate that was rejected'));
    retire();
    await undo.disposeAsync();
  };

  const began = performance.now();
  try {
    const late = failure('SETUP_TIMEOUT', `did not finish setup in ${setupMs} ms; what waits there belongs in onLive`);
    await within(setupMs, late, async () => plugin.setup(context as never)).finally(() => (isInSetup = false));
    const missing = provides.find(({ id }) => !services.has(id));
    if (missing) throw failure('SERVICE_MISSING', `declares "${missing.id}" but never provided it`);
  } catch (cause) {
    await dispose();
    throw funnel(cause, 'SETUP_FAILED', { plugin: name });
  }

  const number = ++made;
  const configAt = plugin.config && (plugin.config.at ?? `plugins.entries.${name}.config`);
  const facts = { plugin: name, description: plugin.description, required: plugin.required ?? false, source, configAt };
  const tokens = { needs: Object.values(plugin.needs ?? {}).map(({ id }) => id), provides: [...services.keys()] };
  const hooks = taps.map(({ hook, stage }) => ({ hook: hook.id, stage }));
  const inspection = { ...facts, instance: number, since: 0, setupMs: performance.now() - began, ...tokens, hooks, leases: [...leases] };
  let generations = 0;
  /** Joins a generation; with the first one, at its swap, intake begins. */
  const join = (generation: number) => {
    generations++;
    if (inspection.since) return;
    inspection.since = generation;
    live.resolve();
    for (const start of starts) void Promise.try(start).catch(reportFrom('HOOK_FAILED', 'onLive'));
  };
  /** Disposed with the last generation that holds it. */
  const leave = async () => {
    if (--generations === 0) await dispose();
  };
  return { number, name, identity, taps, services, holder, join, leave, retire, dispose, inspection };
}

/** JSON with sorted keys: equal values give equal text. */
export function canonical(value: unknown): string {
  const sorted = (inner: object) => Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const isMap = (inner: unknown) => typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return JSON.stringify(value, (_, inner) => (isMap(inner) ? sorted(inner) : inner)) ?? 'null';
}

export const digest = (value: unknown) => hash('sha256', canonical(value), 'base64url');
