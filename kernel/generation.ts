import { randomBytes } from 'node:crypto';
import { asValue, createContainer } from 'awilix/browser'; // the same without a file globber, which loads 80 modules
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import { funnel, KernelError } from './error.ts';
import { type AnyHook, canonical, type Instance, type Tap } from './instance.ts';
import type { Kernel } from './kernel.ts';
import { DecideTool, FilterPolicy, type LeftOut, type Offer, type Subject, type ToolRequest } from './points.ts';
import { openRun, type Run, type RunOptions } from './run.ts';
import { judged, narrowed } from './toolcall.ts';

const kinds = { notify: AsyncSeriesHook, waterfall: AsyncSeriesWaterfallHook, bail: AsyncSeriesBailHook };
/** Tells the runs of one process from those of another, in logs and transcripts. */
const era = `r${randomBytes(3).toString('hex')}`;
let runs = 0;

export type Generation = ReturnType<typeof generation>;

/** An immutable set of instances with the hooks they tap and the services they provide. */
export function generation(kernel: Kernel, id: number, instances: readonly Instance[], leftOut: readonly LeftOut[]) {
  const container = createContainer<Record<string, unknown>>({ strict: true });
  const services = [kernel.outside, ...instances].flatMap((one) => [...one.services]);
  for (const [key, value] of services) container.register(key, asValue(value));
  const taps = instances.flatMap((one) => one.taps).toSorted((a, b) => a.stage - b.stage); // ties stay in plugin order
  const tapsOf = Map.groupBy(taps, ({ hook }) => hook.id);
  const points = new Map<string, AsyncSeriesHook<[unknown, Run]>>();
  const kept = new Map<string, Promise<unknown>>();
  const active = new Set<Promise<unknown>>();

  function pointOf(hook: AnyHook, own: readonly Tap[]) {
    const point = new (kinds[hook.kind] as typeof AsyncSeriesHook<[unknown, Run]>)(['value', 'run']);
    for (const tap of own) point.tapPromise(tap.plugin, (value, run) => ask(tap, hook, value, run) as Promise<void>);
    points.set(hook.id, point);
    return point;
  }

  async function ask({ fn, plugin }: Tap, { id: hook, kind }: AnyHook, value: unknown, run: Run): Promise<unknown> {
    try {
      const result = await fn(value, run);
      if (kind === 'waterfall' && result === undefined) throw new KernelError('HOOK_UNDEFINED', 'it must return the next value');
      return hook === FilterPolicy.id && result !== value ? narrowed(value as Offer, result as Offer, plugin, kernel.report) : result;
    } catch (cause) {
      const error = funnel(cause, 'HOOK_FAILED', { plugin, hook, run: run.id });
      if (kind !== 'notify') throw error;
      return kernel.report(error);
    }
  }

  /** Runs `work` pinned to this generation. */
  function enter<T>(work: (run: Run) => T | Promise<T>, options: RunOptions = {}): Promise<T> {
    const root = { id: `${era}-${++runs}`, on: self, isEnded: false };
    const running = Promise.try(work, openRun(root, options)).finally(() => {
      root.isEnded = true;
      active.delete(running);
    });
    active.add(running);
    return running;
  }

  /** Asks the taps of a hook. The policy points are stricter than their kinds: every decider is asked, a filter only narrows. */
  async function call(hook: AnyHook, value: unknown, run: Run): Promise<unknown> {
    const own = tapsOf.get(hook.id);
    if (!own) return hook.kind === 'waterfall' ? value : undefined;
    if (hook.id === DecideTool.id) return judged(own, value as ToolRequest, run);
    return (points.get(hook.id) ?? pointOf(hook, own)).promise(value, run);
  }

  /** Computes once per Subject and versions of the hooks' taps. A failure is its own run's: who waited for it computes again. */
  async function keep<T>(hooks: readonly AnyHook[], subject: Subject, compute: () => Promise<T>): Promise<T> {
    const versions = hooks.flatMap((hook) => tapsOf.get(hook.id) ?? []).map(({ version }) => version?.(subject));
    const key = canonical([hooks, subject, versions]);
    const old = kept.get(key);
    if (old) return (old as Promise<T>).catch(compute);
    if (kept.size >= 1000) kept.clear(); // mostly versions of long ago
    const made = compute();
    kept.set(key, made);
    made.catch(() => kept.delete(key));
    return made;
  }

  /** Once the last run has left: lets go of the instances, in reverse. */
  async function retire(): Promise<void> {
    while (active.size > 0) await Promise.allSettled(active);
    for (const one of instances.toReversed()) await one.leave();
  }

  const self = { kernel, id, instances, leftOut, container, active, enter, call, keep, retire };
  return self;
}
