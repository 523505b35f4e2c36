import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { bin } from '../support/instar.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The output once it holds this. */
  says(text: string | RegExp): Promise<string>;
}

/** `instar …` as a process of its own, on this state folder. Killed at the end if it is still there. */
export function instar(home: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, INSTAR_HOME: home, INSTAR_NO_DETECT: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  const waiting = new Set<() => void>();
  const heard = () => waiting.forEach((check) => check());
  child.stdout.setEncoding('utf8').on('data', (text: string) => ((out += text), heard()));
  child.stderr.setEncoding('utf8').on('data', (text: string) => ((err += text), heard()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }));
  const says = (text: string | RegExp) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const check = () => {
      const all = out + err;
      if (typeof text === 'string' ? all.includes(text) : text.test(all)) resolve(all);
    };
    waiting.add(check);
    check();
    void ended.then(() => reject(new Error(`ended without saying ${String(text)}:\n${out}${err}`)));
    return promise.finally(() => waiting.delete(check));
  };
  return {
    child,
    ended,
    says,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A gateway on a free port, once it is ready. */
export async function gateway(home: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const running = instar(home, ['start', '--port', '0', ...args], env);
  await running.says('is ready');
  return running;
}
