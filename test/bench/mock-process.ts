import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ask, freePort } from './process.ts';

export interface MockProcess extends AsyncDisposable {
  readonly url: string;
  /** Newest last. */
  readonly requests: () => Promise<readonly { readonly bytes: number; readonly number: number }[]>;
}

/** The mock model in a process of its own, so that its work is not counted as ours. */
export async function startMock(): Promise<MockProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [join(import.meta.dirname, '../support/mock-model.ts'), '--port', String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  while ((await ask('GET', `${url}/health`, undefined, {}, false).catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null) throw new Error('the mock model ended at once');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    url,
    requests: async () => JSON.parse((await ask('GET', `${url}/__requests`)).text).requests,
    async [Symbol.asyncDispose]() {
      child.kill();
    },
  };
}
