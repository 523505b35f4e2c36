import type { Plugin, Run } from '../../kernel/index.ts';
import { type Method, Methods, type Route, Routes } from '../../plugins/gateway/contract.ts';
import { bundled } from '../support/bundled.ts';
import { bootTest, type TestKernel, type TestOptions } from '../support/kernel.ts';
import { gatewayOf } from '../plugins/gateway/wire.ts';

export const token = 'kX2v9QmT4bW7cR1zL6pD8sN3';
type Config = Readonly<Record<string, unknown>>;

export interface Installation extends AsyncDisposable {
  readonly test: TestKernel;
  readonly url: string;
  readonly routes: readonly Route[];
  readonly methods: Readonly<Record<string, Method>>;
  readonly run: <T>(work: (run: Run) => T | Promise<T>) => Promise<T>;
}

/** All plugins of ours, as they are installed, behind a token; further ones are treated as ours are. */
export async function installation(config: Config = {}, more: readonly Plugin[] = [], options: TestOptions = {}): Promise<Installation> {
  const gateway = { auth: { token }, http: { endpoints: { chatCompletions: { enabled: true } } } };
  const test = await bootTest([...(await bundled()), ...more], { gateway, ...config }, options);
  const { url } = await gatewayOf(test);
  const run: Installation['run'] = (work) => test.kernel.run(work);
  const [routes, methods] = await run((one) => Promise.all([one.call(Routes, []), one.call(Methods, {})]));
  return { test, url, routes, methods, run, [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() };
}
