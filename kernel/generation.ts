import { asValue, createContainer } from 'awilix';
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import { funnel, KernelError } from './error.ts';
import { canonical } from './identity.ts';
import type { Instance, Tap } from './instance.ts';
import { DecideTool, FilterPolicy, type LeftOut, type Subject } from './points.ts';
import { asked, type Deciding, narrowed } from './policy.ts';
import type { Given, Run } from './run.ts';
import type { Hook } from './token.ts';

type AnyHook = Hook<unknown, unknown>;
type Point = Pick<AsyncSeriesHook<[unknown, Run]>, 'promise' | 'tapPromise'>;

const args = ['value', 'run'] as [string, string];
const make: Record<AnyHook['kind'], () => Point> = {
  notify: () => new AsyncSeriesHook<[unknown, Run]>(args) as never,
  waterfall: () => new AsyncSeriesWaterfallHook<[unknown, Run]>(args) as never,
  bail: () => new AsyncSeriesBailHook<[unknown, Run], unknown>(args) as never,
};

export type Generation = ReturnType<typeof generation>;

/** An immutable set of instances with the hooks they tap and the services they provide. */
export function generation(
  id: number,
  instances: readonly Instance[],
  leftOut: readonly LeftOut[],
  services: readonly Given[],
  report: (error: unknown) => void,
) {
  const container = createContainer<Record<string, unknown>>({ strict: true });
  for (const { token, value } of services) container.register(token.id, asValue(value));
  for (const { services: own } of instances) for (const [key, value] of own) container.register(key, asValue(value));
  const taps = Map.groupBy(
    instances.flatMap(({ name, taps }) => taps.map((tap) => ({ plugin: name, tap }))),
    ({ tap }) => tap.hook.id,
  );
  const points = new Map<string, Point>();
  const kept = new Map<string, Promise<unknown>>();
  const idle = Promise.withResolvers<void>();

  /** The policy points are stricter than their kinds: a filter only narrows, every decider is asked. */
  function wire(hook: AnyHook): Point {
    const point = make[hook.id === DecideTool.id ? 'waterfall' : hook.kind]();
    for (const { plugin, tap } of taps.get(hook.id) ?? []) {
      point.tapPromise({ name: plugin, stage: tap.stage ?? 0 }, async (value, run) => {
        try {
          return (await answer(hook, tap, plugin, value, run)) as undefined;
        } catch (cause) {
          const error = funnel(cause, 'HOOK_FAILED', { plugin, hook: hook.id, run: run.id });
          if (hook.kind !== 'notify') throw error;
          return report(error);
        }
      });
    }
    points.set(hook.id, point);
    return point;
  }

  async function answer(hook: AnyHook, tap: Tap, plugin: string, value: unknown, run: Run) {
    if (hook.id === DecideTool.id)
      return asked(value as Deciding, (request) => tap.fn(request, run), plugin, run.signal);
    const result = await tap.fn(value, run);
    if (hook.kind === 'waterfall' && result === undefined)
      throw new KernelError('HOOK_UNDEFINED', 'it returned nothing; return the next value');
    return hook.id === FilterPolicy.id ? narrowed(value as never, result as never, plugin, report) : result;
  }

  const self = {
    ...{ id, instances, leftOut, container },
    runs: 0,
    retired: false,

    async call(hook: AnyHook, value: unknown, run: Run): Promise<unknown> {
      if (!taps.has(hook.id)) return hook.kind === 'waterfall' ? value : undefined;
      const point = points.get(hook.id) ?? wire(hook);
      if (hook.id !== DecideTool.id) return point.promise(value, run);
      return ((await point.promise([value, undefined], run)) as unknown as Deciding)[1];
    },

    /** Computes once per (Subject, versions of the taps of these hooks). What fails is not kept. */
    keep<T>(hooks: readonly { readonly id: string }[], subject: Subject, compute: () => Promise<T>): Promise<T> {
      const versions = hooks.flatMap((hook) => taps.get(hook.id) ?? []).map(({ tap }) => tap.version?.(subject) ?? '');
      const key = [hooks[0]?.id, subjectKey(subject), ...versions].join('\n');
      const old = kept.get(key);
      if (old) return old as Promise<T>;
      if (kept.size >= 1000) kept.clear();
      const made = compute();
      kept.set(key, made);
      made.catch(() => kept.delete(key));
      return made;
    },

    leave() {
      if (--self.runs === 0 && self.retired) idle.resolve();
    },

    /** Waits for the last run, then lets go of the instances in reverse. */
    async retire() {
      self.retired = true;
      if (self.runs > 0) await idle.promise;
      for (const one of instances.toReversed()) await one.leave();
    },
  };
  return self;
}

const subjectKeys = new WeakMap<Subject, string>();
function subjectKey(subject: Subject): string {
  const key = subjectKeys.get(subject) ?? canonical(subject);
  subjectKeys.set(subject, key);
  return key;
}
