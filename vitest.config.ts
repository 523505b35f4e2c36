import { defineConfig } from 'vitest/config';

// Node runs our TypeScript as it is, in tests as in a clone: no module runner of Vite's, so one copy of every
// module whether a test or the plugin loader imports it. The price: no `vi.mock`, which we do not use.
const native = { viteModuleRunner: false, nodeLoader: false };

const apart = ['test/plugins/watch/**/*.test.ts', 'test/host/example-plugins.test.ts', 'test/plugins/testing/kit.test.ts'];

export default defineConfig({
  test: {
    environment: 'node',
    experimental: native,
    // Half the time of forks here. In a thread there is no chdir, no umask and no signal handler: what needs one starts a child.
    pool: 'threads',
    // One more than the cores of the machine that this is meant for: many tests wait for a child process.
    maxWorkers: 3,
    env: { INSTAR_NO_DETECT: '1' },
    testTimeout: 15_000,
    // A stall of seconds anywhere must fail nothing.
    expect: { poll: { timeout: 14_000 } },
    hookTimeout: 15_000,
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles: ['test/support/seed.ts'],
          // Our modules hold no state: files of one worker may share them, which saves loading them 200 times.
          isolate: false,
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/browser/**', 'test/product/**', ...apart, '**/*.browser.test.ts'],
        },
      },
      // What looks for listeners and timers that a plugin left must not find those of other files.
      { test: { name: 'apart', include: apart } },
      {
        // Each test starts the product as its user does, often more than once.
        test: { name: 'product', include: ['test/product/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts', 'test/**/*.browser.test.ts'],
          exclude: ['**/node_modules/**'],
          // The first browser of a fresh install is unpacked from its package first.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
