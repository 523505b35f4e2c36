import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../kernel/host/ownership.ts';
import { given, Host, type LogRecord, type Plugin, type RunOptions, type Swap, type ToolResult } from '../../kernel/index.ts';
import { Kernel, type KernelOptions, type Values } from '../../kernel/kernel.ts';
import type { Entry } from '../../kernel/order.ts';

export type { Entry };

/** An entry of a candidate; another `code` is another version of the plugin. */
export const entry = (plugin: Plugin, code = '1'): Entry => ({ plugin, codeHash: code, source: 'test' });

export interface TestOptions extends Partial<KernelOptions> {
  /** Live when `testKernel` settles. */
  readonly plugins?: readonly (Plugin | Entry)[];
  /** The whole config, as values. */
  readonly config?: Values;
  /** A state folder that is kept. Default: a temporary one. */
  readonly home?: string;
  readonly env?: Host['env'];
  readonly flags?: Host['flags'];
  readonly announce?: Host['announce'];
  /** Config files and plugins beside the folder of the home. */
  readonly sources?: Partial<ReturnType<Host['sources']>>;
}

export interface TestKernel extends AsyncDisposable {
  readonly kernel: Kernel;
  readonly home: string;
  /** What was logged so far. */
  readonly records: LogRecord[];
  /** Replaces the plugins, and the config where one is given, as an edit would. */
  apply(plugins: readonly (Plugin | Entry)[], config?: Values): Promise<Swap>;
  /** The same plugins again, this one (else each) as if its code had changed. */
  reload(name?: string): Promise<Swap>;
  /** As the model would call it: offered, checked and judged. Without `allowAll` or `policy` every call is denied. */
  callTool(name: string, args?: unknown, options?: RunOptions): Promise<ToolResult>;
}

/** A kernel with a host that touches nothing outside its home. Drained, and a temporary home removed, at the end. */
export async function testKernel(options: TestOptions = {}): Promise<TestKernel> {
  const { plugins, config = {}, env = { INSTAR_NO_DETECT: '1' }, flags = { port: '0' }, announce = () => {}, sources, ...own } = options;
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'instar-test-')));
  const records: LogRecord[] = [];
  let live: { readonly plugins: readonly Entry[]; readonly config: Values } = { plugins: [], config };
  let versions = 0;
  const apply = async (candidate: typeof live) => {
    const swap = await kernel.apply(candidate);
    live = candidate;
    return swap;
  };
  const host: Host = {
    home,
    version: '0.0.0-test',
    configFile: undefined,
    env,
    flags,
    announce,
    place: (path) => path,
    inspect: () => kernel.inspect(),
    sources: () => ({ config: [], roots: [join(home, 'plugins')], plugins: [], ...sources }),
    reload: () => apply(live),
    stop: () => {},
  };
  const kernel: Kernel = new Kernel({ check, sink: (record) => records.push(record), services: [given(Host, host)], ...own });
  const test: TestKernel = {
    kernel,
    home,
    records,
    apply: (next, values = live.config) => apply({ plugins: next.map((one) => ('plugin' in one ? one : entry(one))), config: values }),
    reload(name) {
      const changed = (one: Entry) => (name === undefined || one.plugin.name === name ? entry(one.plugin, `reload ${++versions}`) : one);
      return apply({ ...live, plugins: live.plugins.map(changed) });
    },
    callTool: (name, args = {}, run = {}) => kernel.run((opened) => opened.callTool({ id: 'test', name, args }), run),
    async [Symbol.asyncDispose]() {
      await kernel.drain();
      if (!options.home) await rm(home, { recursive: true, force: true });
    },
  };
  if (plugins) await test.apply(plugins).catch(async (cause) => test[Symbol.asyncDispose]().then(() => Promise.reject(cause as Error)));
  return test;
}
