import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

const ticks = Number(execFileSync('getconf', ['CLK_TCK'])) || 100;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Median and 95th percentile, rounded to 0.1. */
export function spread(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (q: number) => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN) * 10) / 10;
  return { median: at(0.5), p95: at(0.95), min: at(0) };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Reply {
  readonly status: number;
  readonly ms: number;
  readonly text: string;
}

export function ask(
  method: string,
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  keepAlive = true,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const data = body === undefined ? undefined : JSON.stringify(body);
    const options = { method, headers: { ...headers, ...(data && { 'content-type': 'application/json' }) }, ...(keepAlive && { agent }) };
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - began, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(data);
  });
}

/** A gateway under test, ours or the floor. */
export interface Gateway {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url: string;
  turn(text: string, session: string): Promise<Reply>;
}

export interface Running extends AsyncDisposable {
  readonly pid: number;
  /** Milliseconds from spawn to the first good answer of its health check. */
  readonly readyMs: number;
  readonly spawnedAt: number;
}

/** Starts it and waits until it is healthy. Its output goes to a log beside its state. */
export async function start(gateway: Gateway, folder: string): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, 'output.log'), 'a');
  const spawnedAt = performance.now();
  const child = spawn(process.execPath, gateway.args, { env: { ...process.env, ...gateway.env }, stdio: ['ignore', log, log] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (child.exitCode === null) {
    const healthy = await ask('GET', `${gateway.url}/healthz`, undefined, {}, false).catch(() => undefined);
    if (healthy?.status === 200)
      return { pid: child.pid ?? 0, readyMs: performance.now() - spawnedAt, spawnedAt, [Symbol.asyncDispose]: () => stop(child, exited) };
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${gateway.name} ended before it was ready; see ${folder}/output.log`);
}

async function stop(child: ChildProcess, exited: Promise<void>) {
  child.kill('SIGTERM');
  await exited;
}

/** CPU milliseconds a process has used so far, its children not counted. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticks;
}

export function residentMB(pid: number): number {
  const match = /^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Math.round(Number(match?.[1]) / 102.4) / 10;
}

/** Milliseconds in which its main thread could have run and another process had the core. */
export const waitedMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
