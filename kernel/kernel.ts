import { build, type Candidate } from './build.ts';
import { KernelError, messageOf } from './error.ts';
import type { Generation } from './generation.ts';
import { canonical, type Instance } from './instance.ts';
import { type LeasePool, leasePool } from './lease.ts';
import { type LogSink, logOf } from './log.ts';
import type { Plugin } from './plugin.ts';
import { GenerationRejected, GenerationSwapped, type JsonSchema, type Swap } from './points.ts';
import type { EnterRun, Given } from './run.ts';
import type { Hook } from './token.ts';

/** A whole config, as values. */
export type Values = Readonly<Record<string, unknown>>;

/** A fault of the config. `block` can be left out alone for it: a plugin, by name, or one of an `x-contained` map, by path. */
export type Fault = { readonly path: string; readonly message: string; readonly block?: string | undefined };

/** How values are held against schemas and names, which the kernel leaves to the host. */
export interface Check {
  /** Cuts a config into what each plugin owns, with defaults. What lies at the paths of `others` is neither checked nor strange. */
  slice(config: Values, plugins: readonly Plugin[], others: readonly string[]): Slices;
  /** CONFIG_INVALID, with all faults at once. */
  error(faults: readonly Fault[]): KernelError;
  /** What is wrong with a tool's arguments; empty where nothing is. Fills in defaults, in place. */
  args(schema: JsonSchema, args: unknown): string;
  /** The known word that was meant, if one is near. */
  nearest(word: string, known: Iterable<string>): string | undefined;
}
export type Slices = { readonly slices: ReadonlyMap<string, unknown>; readonly faults: readonly Fault[] };

export interface KernelOptions {
  readonly sink: LogSink;
  readonly check: Check;
  /** Services from outside, e.g. `Host`. */
  readonly services?: readonly Given[];
  /** Milliseconds a setup, and a disposer, may take. Default 10,000 each. */
  readonly setupMs?: number;
  readonly disposeMs?: number;
}

/** Holds the current generation and replaces it. Knows no feature. */
export class Kernel {
  readonly options: Required<KernelOptions>;
  readonly leases: LeasePool;
  /** The services from outside, as if of an instance that never changes. */
  readonly outside: Pick<Instance, 'number' | 'services'>;
  /** For the kernel's own parts; all others get a `Run`. */
  current: Generation | undefined;
  #generations = 0;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #draining = new Map<Generation, Promise<void>>();
  readonly #abort = new AbortController();
  readonly signal: AbortSignal = this.#abort.signal;

  constructor(options: KernelOptions) {
    this.options = { services: [], setupMs: 10_000, disposeMs: 10_000, ...options };
    this.leases = leasePool(this.report, this.options.disposeMs);
    this.outside = { number: 0, services: new Map(options.services?.map(({ token, value }) => [token.id, value])) };
  }

  /** Builds the next generation and swaps to it, or rejects. Settles at the swap, not at the drain: a run may apply its own replacement. */
  apply(candidate: Candidate): Promise<Swap> {
    const next = this.#queue.then(() => this.#apply(candidate));
    this.#queue = next.then(
      (swap) => this.#tell(GenerationSwapped, swap),
      (error) => this.#tell(GenerationRejected, { error, generation: this.#generations }),
    );
    return next;
  }

  async #apply(candidate: Candidate): Promise<Swap> {
    const began = performance.now();
    const before = this.current?.instances ?? [];
    const { next, built } = await build(this, this.#generations + 1, candidate);
    const { instances, leftOut } = next;
    const removed = before.map(({ name }) => name).filter((name) => !instances.some((one) => one.name === name));
    const madeOf = (of: readonly Instance[], out?: unknown) => canonical([of.map(({ number }) => number), out]);
    if (madeOf(instances, leftOut) !== madeOf(before, this.current?.leftOut)) this.#swap(next); // an unchanged save is no change
    return { generation: this.#generations, built, removed, leftOut, began, ms: performance.now() - began };
  }

  /** Synchronous, so that no run ever sees half of it: old intake stops, new intake begins, the old generation drains. */
  #swap(next: Generation | undefined) {
    const old = this.current;
    const { id = this.#generations, instances = [] } = next ?? {};
    const held = new Set(instances);
    this.current = next;
    this.#generations = id;
    for (const one of old?.instances ?? []) if (!held.has(one)) one.retire();
    this.leases.sweep(new Set(instances.map(({ holder }) => holder)));
    for (const one of instances) one.join(id);
    if (!old) return;
    const drained = old.retire().finally(() => this.#draining.delete(old));
    this.#draining.set(old, drained);
  }

  /** Not awaited: a slow listener must not hold up the next change. */
  #tell<V>(event: Hook<V, void>, value: V) {
    if (this.current) void this.run((run) => run.call(event, value)).catch(this.report);
  }

  /** Runs `work` pinned to the current generation; while the last one drains, runs that come of its runs still join it. */
  readonly run: EnterRun = async (work, options) => {
    const on = this.current ?? [...this.#draining.keys()].findLast(({ active }) => active.size > 0);
    if (on) return on.enter(work, options);
    throw new KernelError('NOT_LIVE', 'no generation is live: not started yet, or closed');
  };

  /** Where failures go that nobody waits for. */
  readonly report = (error: unknown) => logOf(this.options.sink).error(messageOf(error), { error });

  /** Orderly end: intake stops now, runs finish, everything is disposed. */
  async drain(): Promise<void> {
    await this.#queue;
    this.#swap(undefined);
    await Promise.all(this.#draining.values());
  }

  /** Ends the signals of all runs; they unwind as fast as they heed them. */
  abort(why: string) {
    this.#abort.abort(new KernelError('NOT_LIVE', why));
  }

  /** The kernel as it is: for status, the page and doctors. */
  inspect() {
    const { id: generation = 0, active, leftOut = [] } = this.current ?? {};
    const instances = this.current?.instances.map(({ inspection }) => ({ ...inspection })) ?? [];
    const retiring = [...this.#draining.keys()].map((old) => ({ generation: old.id, runs: old.active.size }));
    return { generation, runs: active?.size ?? 0, instances, leftOut, retiring, leases: this.leases.inspect() };
  }
}
