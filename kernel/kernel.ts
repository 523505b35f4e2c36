import { build, type Candidate } from './build.ts';
import { KernelError } from './error.ts';
import { type Generation, generation } from './generation.ts';
import type { Around, Instance } from './instance.ts';
import { leasePool } from './lease.ts';
import { type LogSink, logOf } from './log.ts';
import { CheckGeneration, GenerationRejected, GenerationSwapped, type LeftOut, type Swap } from './points.ts';
import { type EnterRun, type Given, openRun, type Run, type RunOptions } from './run.ts';

export interface KernelOptions {
  readonly sink: LogSink;
  /** Services from outside, e.g. `Host`. */
  readonly services?: readonly Given[];
  /** Milliseconds a setup, and a disposer, may take. Default 10,000 each. */
  readonly setupMs?: number;
  readonly disposeMs?: number;
}

/** Holds the current generation and replaces it. Knows no feature. */
export class Kernel {
  #current: Generation | undefined;
  #numbers = 0;
  #generations = 0;
  #runs = 0;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #draining = new Map<Generation, Promise<void>>();
  readonly #abort = new AbortController();
  readonly #services: readonly Given[];
  readonly #around: Around;

  constructor({ sink, services = [], setupMs = 10_000, disposeMs = 10_000 }: KernelOptions) {
    const log = logOf(sink);
    const report = (error: unknown) => log.error(error instanceof Error ? error.message : String(error), { error });
    this.#services = services;
    this.#around = { pool: leasePool(report, disposeMs), enter: this.run, sink, report, setupMs, disposeMs };
  }

  /** Builds the next generation and swaps to it; rejects with the old one untouched. Settles at the swap, not at the drain: a run may apply its own replacement. */
  apply(candidate: Candidate): Promise<Swap> {
    const next = this.#queue.then(() => this.#apply(candidate));
    this.#queue = next.then(
      (swap) => this.run((run) => run.call(GenerationSwapped, swap)),
      (error) =>
        this.#current && this.run((run) => run.call(GenerationRejected, { error, generation: run.generation })),
    );
    return next;
  }

  async #apply(candidate: Candidate): Promise<Swap> {
    const began = performance.now();
    const previous = this.#current;
    const make = (id: number, instances: readonly Instance[], leftOut: readonly LeftOut[]) =>
      generation(id, instances, leftOut, this.#services, this.#around.report);
    const attempt = build(candidate, {
      ...this.#around,
      previous,
      services: this.#services,
      number: () => ++this.#numbers,
      trial: (instances, work) => this.#enter(make(0, instances, []), work),
    });
    try {
      await attempt.run();
      const next = make(this.#generations + 1, attempt.instances, attempt.leftOut);
      const plugins = next.instances.map(({ name }) => name);
      const problem = await this.#enter(next, (run) => run.call(CheckGeneration, { plugins }));
      if (problem) throw new KernelError('GENERATION_REJECTED', problem);
      this.#swap(previous, next);
      const removed = previous?.instances.map(({ name }) => name).filter((name) => !plugins.includes(name)) ?? [];
      const { built, leftOut } = attempt;
      return { generation: next.id, built, removed, leftOut, ms: performance.now() - began };
    } catch (error) {
      await attempt.dispose();
      this.#around.pool.sweep(new Set(previous?.instances));
      throw error;
    }
  }

  /** Synchronous, so that no run ever sees half of it. */
  #swap(previous: Generation | undefined, next: Generation) {
    this.#current = next;
    this.#generations = next.id;
    const current = new Set<Instance>(next.instances);
    for (const instance of previous?.instances ?? []) if (!current.has(instance)) instance.retire();
    this.#around.pool.sweep(current);
    for (const instance of next.instances) instance.join(next.id);
    if (previous) this.#drain(previous);
  }

  #drain(generation: Generation) {
    const drained = generation.retire().finally(() => this.#draining.delete(generation));
    this.#draining.set(generation, drained);
  }

  /** Runs `work` pinned to the current generation. */
  readonly run: EnterRun = async (work, options) => {
    const on = this.#current ?? [...this.#draining.keys()].at(-1);
    if (!on) throw new KernelError('NOT_LIVE', 'no generation is live: not started yet, or closed');
    return this.#enter(on, work, options);
  };

  async #enter<T>(
    on: Generation,
    work: (run: Run) => T | Promise<T>,
    { signal, ...options }: RunOptions = {},
  ): Promise<T> {
    const root = {
      id: `r${++this.#runs}`,
      on,
      ended: false,
      latest: <U>(inner: (run: Run) => Promise<U>, same: RunOptions) => {
        const now = this.#current;
        return now && now !== on ? this.#enter(now, inner, same) : undefined;
      },
    };
    const both = signal ? AbortSignal.any([signal, this.#abort.signal]) : this.#abort.signal;
    on.runs++;
    try {
      return await work(openRun(root, { ...options, signal: both }));
    } finally {
      root.ended = true;
      on.leave();
    }
  }

  /** Orderly end: intake stops now, runs finish, everything is disposed. A run opened meanwhile joins the last generation. */
  async drain(): Promise<void> {
    await this.#queue;
    const last = this.#current;
    if (last) {
      for (const instance of last.instances) instance.retire();
      this.#around.pool.sweep(new Set());
      this.#drain(last);
      this.#current = undefined;
    }
    await Promise.all(this.#draining.values());
  }

  /** Ends the signals of all runs; they unwind as fast as they heed them. */
  abort(why: string) {
    this.#abort.abort(new KernelError('NOT_LIVE', why));
  }

  /** The kernel as it is: for status, the page and doctors. */
  inspect() {
    const current = this.#current;
    return {
      generation: current?.id ?? 0,
      runs: current?.runs ?? 0,
      instances: (current?.instances ?? []).map(({ name, number, since, setupMs, entry, services, taps, leases }) => ({
        ...{
          plugin: name,
          instance: number,
          since,
          setupMs,
          source: entry.source,
          description: entry.plugin.description,
        },
        required: entry.plugin.required ?? false,
        needs: Object.values(entry.plugin.needs ?? {}).map(({ id }) => id),
        provides: [...services.keys()],
        hooks: taps.map(({ hook, stage = 0 }) => ({ hook: hook.id, stage })),
        leases: [...leases],
      })),
      leftOut: current?.leftOut ?? [],
      /** Older generations that still have runs. */
      retiring: [...this.#draining.keys()].map(({ id, runs }) => ({ generation: id, runs })),
      leases: this.#around.pool.inspect(),
    };
  }
}
