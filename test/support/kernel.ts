import type { Plugin } from '../../kernel/index.ts';
import { type Entry, entry, type TestKernel, testKernel, type TestOptions } from '../../plugins/testing/kit.ts';

export { entry, testKernel, type TestKernel, type TestOptions };

/** A plugin whose types nobody infers. */
export const plugin = (name: string, setup: Plugin['setup'], facts: Partial<Plugin> = {}): Plugin => ({
  name,
  description: '',
  setup,
  ...facts,
});

/** A kernel with these plugins live. */
export const bootTest = (
  plugins: readonly (Plugin | Entry)[],
  config: Readonly<Record<string, unknown>> = {},
  options: TestOptions = {},
): Promise<TestKernel> => testKernel({ plugins, config, ...options });
