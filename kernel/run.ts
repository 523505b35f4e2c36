import { asValue } from 'awilix/browser';
import { KernelError } from './error.ts';
import type { Generation } from './generation.ts';
import type { CallRequest, LeftOut, Offer, PromptSection, Subject, ToolResult } from './points.ts';
import { FilterPolicy, PromptSections, RegisterTools } from './points.ts';
import type { Hook, Service } from './token.ts';
import { callTool } from './toolcall.ts';

/** A service that belongs to one run, e.g. the facts of its turn. */
export type Given<T = unknown> = { readonly token: Service<T>; readonly value: T };
export const given = <T>(token: Service<T>, value: NoInfer<T>): Given => ({ token, value });

/** `signal` ends the run's work early; it is combined with that of the run it derives from. */
export type RunOptions = { readonly subject?: Subject; readonly signal?: AbortSignal | undefined; readonly values?: readonly Given[] };

/** One unit of work, pinned to the generation on which it started. The only way plugins reach each other at run time. */
export interface Run {
  readonly id: string;
  readonly generation: number;
  readonly subject: Subject;
  readonly signal: AbortSignal;
  /** The service behind a token; where there is none, the error names the plugin that failed to provide it and why. */
  get<T>(token: Service<T>): T;
  find<T>(token: Service<T>): T | undefined;
  call<V, R>(hook: Hook<V, R>, value: V): Promise<R>;
  /** The tools this Subject may be offered, and what policy removed. Kept per generation, Subject and versions. */
  tools(): Promise<Offer>;
  /** The prompt sections of this Subject, unordered. Kept likewise. */
  sections(): Promise<readonly PromptSection[]>;
  /** The one way to a tool: offered? arguments? policy, asked now? then execute. Failures are results; only an abort throws. */
  callTool(request: CallRequest): Promise<ToolResult>;
  /** The same run, judged as another Subject, with services of its own. */
  as(options: RunOptions): Run;
}

export type EnterRun = <T>(work: (run: Run) => T | Promise<T>, options?: RunOptions) => Promise<T>;

type Root = { readonly id: string; readonly on: Generation; readonly isEnded: boolean };

/** `root` is what a run and all it derives share. */
export function openRun(root: Root, { values = [], ...options }: RunOptions, outer: AbortSignal = root.on.kernel.signal): Run {
  const { id, on } = root;
  const subject = Object.freeze({ ...options.subject });
  const signal = options.signal ? AbortSignal.any([outer, options.signal]) : outer;
  const scope = values.length ? on.container.createScope() : on.container;
  for (const { token, value } of values) scope.register(token.id, asValue(value));
  const offer = async () => run.call(FilterPolicy, { tools: unique(await run.call(RegisterTools, [])), removed: [] });
  const inLatest = <T>(work: (latest: Run) => Promise<T>) => {
    const now = on.kernel.current;
    return now && now !== on ? now.enter(work, { subject, signal, values }) : work(run);
  };
  const facts = { id, generation: on.id, subject, signal };
  const run: Run = {
    ...facts,
    find: (token) => scope.resolve(token.id, { allowUnregistered: true }) as never,
    get: (token) => run.find(token) ?? lacking(token.id, 'there is no', on.leftOut),
    call: async (hook, value) => {
      if (!root.isEnded) return on.call(hook, value, run) as never;
      throw new KernelError('RUN_ENDED', `run ${id} called "${hook.id}" after its end; open another with ctx.run`, { run: id });
    },
    tools: () => on.keep([RegisterTools, FilterPolicy], subject, offer),
    sections: () => on.keep([PromptSections], subject, () => run.call(PromptSections, [])),
    callTool: (request) => callTool(run, request, on.kernel.options.check, inLatest),
    as: ({ values: more = [], ...other }) => openRun(root, { subject, ...other, values: [...values, ...more] }, signal),
  };
  return run;
}

/** Of tools of one name the first registered stays. */
const unique = <T extends { readonly name: string }>(tools: readonly T[], seen = new Set<string>()) =>
  tools.filter(({ name }) => seen.size < seen.add(name).size);

/** SERVICE_UNKNOWN, with the plugin that should have provided it, and why it did not. */
export function lacking(service: string, who: string, leftOut: readonly LeftOut[], plugin?: string): never {
  const failed = leftOut.find(({ provides }) => provides?.includes(service));
  const why = failed ? `plugin "${failed.plugin}" would provide it, but was left out: ${failed.why}` : 'no listed plugin provides it';
  throw new KernelError('SERVICE_UNKNOWN', `${who} "${service}": ${why}`, { plugin });
}
