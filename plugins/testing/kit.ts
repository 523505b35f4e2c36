/** The test kit of those who write plugins: `instar/testing`. Works under any test runner. */
export { allowAll } from './allow-all.ts';
export { bundledPlugins } from './bundled.ts';
export { fakeChannel, type Answer, type FakeChannel } from './fake-channel.ts';
export { fakeModel, type FakeModel, type Reply, type Script } from './fake-model.ts';
export { leakCheck, type LeakCheck } from './leak-check.ts';
export { entry, testKernel, type Entry, type TestKernel, type TestOptions } from './kernel.ts';
