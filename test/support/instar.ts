import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
/** The package as it is built (`npm test` builds it first), else this checkout. */
export const bin = process.env['INSTAR_TEST_BIN'] ?? join(root, 'bin.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A state folder of its own, removed at the end. */
export function tempHome(config?: object | string) {
  const home = mkdtempSync(join(tmpdir(), 'instar-home-'));
  const file = join(home, 'instar.json5');
  if (config !== undefined) writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  mkdirSync(join(home, 'ws'));
  return { home, file, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) };
}

export type Env = Readonly<Record<string, string | undefined>>;

function launch(args: readonly string[], home: string, env: Env, entry = bin): ChildProcess {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/_API_KEY$|^INSTAR|^OPENCLAW/.test(key)));
  return spawn(process.execPath, [entry, ...args], {
    env: { ...clean, INSTAR_HOME: home, INSTAR_NO_DETECT: '1', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function collect(child: ChildProcess) {
  const out = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (out.stderr += text));
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code, signal, ...out })));
  return { out, ended };
}

/** `instar …` to its end. */
export const instar = (home: string, args: readonly string[], env: Env = {}, entry?: string): Promise<Ended> =>
  collect(launch(args, home, env, entry)).ended;

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
  readonly out: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ended>;
  readonly get: (path: string) => Promise<Response>;
}

/** `instar start` on a free port, once it is ready. Its end is forced if the test did not see to it. */
export async function startGateway(home: string, args: readonly string[] = [], env: Env = {}, entry?: string): Promise<Gateway> {
  const child = launch(['start', '--port', '0', ...args], home, env, entry);
  const { out, ended } = collect(child);
  const ready = new Promise<void>((resolve) => child.stdout?.on('data', () => /^ {2}stop /m.test(out.stdout) && resolve()));
  await Promise.race([ready, ended]);
  // A token that the config refers to is not shown.
  const [, url, token = ''] = /page +(http:[^\s#]+?)(?:\/#token=(\S+))?\s/.exec(out.stdout) ?? [];
  if (!url) throw new Error(`the gateway did not start:\n${out.stdout}${out.stderr}`);
  return {
    url,
    token,
    child,
    out,
    ended,
    get: (path) => fetch(url + path, { headers: { authorization: `Bearer ${token}` } }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}

export const readLog = (home: string): readonly Record<string, unknown>[] =>
  readFileSync(join(home, 'logs/instar.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Config for a mock model at this address; `more` is merged at the top. */
export const withMock = (url: string, home: string, more: object = {}) => ({
  gateway: { http: { endpoints: { chatCompletions: { enabled: true } } } },
  agents: {
    defaults: { workspace: join(home, 'ws'), model: 'mock/m', maxConcurrent: 64 },
    list: [{ id: 'main', default: true }, { id: 'other' }],
  },
  models: {
    providers: {
      mock: {
        baseUrl: `${url}/v1`,
        apiKey: 'sk-mock',
        api: 'openai-completions',
        models: [{ id: 'm', name: 'm', contextWindow: 200000, maxTokens: 8192 }],
      },
    },
  },
  ...more,
});
