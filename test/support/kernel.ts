import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../../kernel/order.ts';
import { given, Host, type LogRecord, type Plugin } from '../../kernel/index.ts';
import { check } from '../../kernel/host/ownership.ts';
import { Kernel, type KernelOptions } from '../../kernel/kernel.ts';

/** An entry of a candidate; another `code` is another version of the plugin. */
export const entry = (plugin: Plugin, code = '1'): Entry => ({ plugin, codeHash: code, source: 'test' });

/** A plugin whose types nobody infers. */
export const plugin = (name: string, setup: Plugin['setup'], facts: Partial<Plugin> = {}): Plugin => ({
  name,
  description: '',
  setup,
  ...facts,
});

export interface TestKernel extends AsyncDisposable {
  readonly kernel: Kernel;
  readonly home: string;
  readonly records: LogRecord[];
  apply(plugins: readonly (Plugin | Entry)[], config?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export interface TestOptions extends Partial<KernelOptions> {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, string | undefined>>;
  readonly announce?: (facts: Readonly<Record<string, unknown>>) => void;
}

/** A kernel with a temporary home and a host that touches nothing else. Drained, and the home removed, at the end. */
export async function testKernel(options: TestOptions = {}): Promise<TestKernel> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'instar-test-')));
  const records: LogRecord[] = [];
  const host: Host = {
    home,
    version: '0.0.0-test',
    configFile: undefined,
    env: options.env ?? { INSTAR_NO_DETECT: '1' },
    flags: options.flags ?? { port: '0' },
    place: (path) => path,
    announce: options.announce ?? (() => {}),
    inspect: () => kernel.inspect(),
    stop: () => {},
  };
  const kernel: Kernel = new Kernel({ check, sink: (record) => records.push(record), services: [given(Host, host)], ...options });
  return {
    kernel,
    home,
    records,
    apply: (plugins, config = {}) => kernel.apply({ plugins: plugins.map((p) => ('plugin' in p ? p : entry(p))), config }),
    async [Symbol.asyncDispose]() {
      await kernel.drain();
      if (!options.home) await rm(home, { recursive: true, force: true });
    },
  };
}

/** A kernel with these plugins live. */
export async function bootTest(
  plugins: readonly (Plugin | Entry)[],
  config: Readonly<Record<string, unknown>> = {},
  options: TestOptions = {},
): Promise<TestKernel> {
  const test = await testKernel(options);
  await test.apply(plugins, config);
  return test;
}
