import { asValue, type AwilixContainer } from 'awilix';
import { KernelError } from './error.ts';
import type { Generation } from './generation.ts';
import {
  FilterPolicy,
  type Offer,
  type PromptSection,
  PromptSections,
  RegisterTools,
  type Subject,
  type ToolResult,
} from './points.ts';
import type { Hook, Service } from './token.ts';
import { type CallRequest, callTool } from './toolcall.ts';

/** A service that belongs to one run, e.g. the facts of its turn. */
export interface Given<T = unknown> {
  readonly token: Service<T>;
  readonly value: T;
}
export const given = <T>(token: Service<T>, value: T): Given => ({ token, value }) as Given;

export interface RunOptions {
  readonly subject?: Subject;
  /** Ends the run's work early; combined with the signal of the run it derives from. */
  readonly signal?: AbortSignal | undefined;
  readonly values?: readonly Given[];
}

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

/** Facts a run and all it derives share. */
export interface RunRoot {
  readonly id: string;
  readonly on: Generation;
  ended: boolean;
  /** Opens the same work on the generation that is current now; undefined where that is the run's own. */
  latest<T>(work: (run: Run) => Promise<T>, options: RunOptions): Promise<T> | undefined;
}

export function openRun(
  root: RunRoot,
  options: RunOptions & { readonly signal: AbortSignal },
  scope: AwilixContainer = root.on.container,
): Run {
  const { on } = root;
  const subject = Object.freeze({ ...options.subject });
  const inner = options.values?.length ? scope.createScope() : scope;
  for (const { token, value } of options.values ?? []) inner.register(token.id, asValue(value));
  const find = <T>(token: Service<T>) => inner.resolve<T | undefined>(token.id, { allowUnregistered: true });
  const run: Run = {
    id: root.id,
    generation: on.id,
    subject,
    signal: options.signal,
    find,
    get: (token) => find(token) ?? missing(on, token.id),
    call: async (hook, value) => {
      if (root.ended)
        throw new KernelError(
          'RUN_ENDED',
          `run ${root.id} called "${hook.id}" after its end; open another with ctx.run`,
          { run: root.id },
        );
      return on.call(hook as never, value, run) as never;
    },
    tools: () =>
      on.keep([RegisterTools, FilterPolicy], subject, async () =>
        run.call(FilterPolicy, { tools: unique(await run.call(RegisterTools, [])), removed: [] }),
      ),
    sections: () => on.keep([PromptSections], subject, () => run.call(PromptSections, [])),
    callTool: (request) => callTool(run, request, (work) => root.latest(work, { ...options, subject })),
    as: ({ subject: other = subject, signal, values = [] }) =>
      openRun(
        root,
        { subject: other, values, signal: signal ? AbortSignal.any([options.signal, signal]) : options.signal },
        inner,
      ),
  };
  return run;
}

/** Two tools of one name: the first registered stays. */
const unique = <T extends { readonly name: string }>(tools: readonly T[]) =>
  [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].reverse();

function missing(on: Generation, id: string): never {
  const failed = on.leftOut.find(({ provides }) => provides?.includes(id));
  const why = failed
    ? `plugin "${failed.plugin}" would, but was left out: ${failed.why}`
    : 'no live plugin provides it';
  throw new KernelError('SERVICE_UNKNOWN', `"${id}" is not there: ${why}`, { plugin: failed?.plugin });
}
