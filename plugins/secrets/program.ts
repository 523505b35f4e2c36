import { spawn } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve, sep } from 'node:path';
import { type Question, Unavailable } from './provider.ts';
import { isLink, refuseOpen } from './sources.ts';

/** Asks a program: no shell, its own process group, a deadline, a bounded answer, and no variable that it was not promised. */
export async function fromProgram(question: Question, signal: AbortSignal): Promise<string> {
  const { id, name, provider } = question;
  const program = programOf(question);
  const asked = JSON.stringify({ protocolVersion: 1, provider: name, ids: [id] });
  const printed = await ask(program, asked, question, signal);
  return (
    answerIn(printed, question) ?? refuse(name, provider.jsonOnly ? 'did not answer in JSON as asked; see jsonOnly' : 'printed nothing')
  );
}

/** The very file that is run: links are followed first, then it is judged. */
function programOf({ name, provider }: Question): string {
  const { command, trustedDirs, allowSymlinkCommand, allowInsecurePath } = provider;
  const at = `secrets.providers.${name}`;
  if (!command) throw new Unavailable(`${at} has no command; add the program's absolute path`);
  if (isLink(command) && !allowSymlinkCommand)
    throw new Unavailable(`${command} is a link; name the file itself, or set ${at}.allowSymlinkCommand: true`);
  let program: string;
  try {
    program = realpathSync(command);
    accessSync(program, constants.X_OK);
  } catch {
    throw new Unavailable(`${command} (${at}.command) is not there or cannot be run`);
  }
  const stats = statSync(program);
  if (!stats.isFile()) throw new Unavailable(`${program} (${at}.command) is no regular file`);
  refuseOpen(program, stats, at, allowInsecurePath);
  if (trustedDirs && !trustedDirs.some((dir) => isWithin(program, dir)))
    throw new Unavailable(`${program} lies in none of ${at}.trustedDirs`);
  return program;
}

function isWithin(file: string, folder: string): boolean {
  const path = resolve(folder.replace(/^~(?=$|\/)/, homedir()));
  return file.startsWith(path.endsWith(sep) ? path : path + sep);
}

function ask(program: string, asked: string, { name, provider, env }: Question, signal: AbortSignal): Promise<string> {
  const passed = Object.fromEntries(provider.passEnv.flatMap((key) => (env[key] === undefined ? [] : [[key, env[key]]])));
  return new Promise((done, failed) => {
    const child = spawn(program, provider.args, {
      cwd: '/',
      env: { ...passed, ...provider.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const parts: Buffer[] = [];
    let size = 0;
    const end = (settle: () => void) => {
      clearTimeout(deadline);
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
      settle();
    };
    const give = (what: string) => {
      end(() => failed(new Unavailable(said(name, what))));
      killGroup(child.pid);
    };
    const stop = () => give('was stopped');
    const quietMs = provider.noOutputTimeoutMs ?? provider.timeoutMs;
    const deadline = setTimeout(() => give(`did not answer in ${provider.timeoutMs} ms (timeoutMs)`), provider.timeoutMs);
    const silence = setTimeout(() => give(`printed nothing for ${quietMs} ms (noOutputTimeoutMs)`), quietMs);
    signal.addEventListener('abort', stop, { once: true });
    child.on('error', () => give('could not be run'));
    child.stdin.on('error', () => {}); // one that does not read what it is asked
    child.stdin.end(`${asked}\n`);
    child.stdout.on('data', (chunk: Buffer) => {
      silence.refresh();
      if ((size += chunk.length) > provider.maxOutputBytes) give(`printed more than ${provider.maxOutputBytes} bytes (maxOutputBytes)`);
      else parts.push(chunk);
    });
    child.on('close', (code, killed) => {
      if (code === 0) end(() => done(Buffer.concat(parts).toString('utf8')));
      else give(`ended with ${killed ?? `exit code ${code}`}; run it by hand to see why`);
    });
  });
}

/** Its children too. It may be gone by now. */
function killGroup(pid: number | undefined) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // it is gone
  }
}

/** `{ protocolVersion: 1, values: { <id>: "…" }, errors: { <id>: { message } } }`, or else the bare text where that is allowed. */
function answerIn(printed: string, { id, name, provider }: Question): string | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(printed);
  } catch {
    return provider.jsonOnly ? undefined : printed.replace(/\r?\n$/, '') || undefined;
  }
  const { values, errors } = (Object(answer) === answer ? answer : {}) as {
    values?: Record<string, unknown>;
    errors?: Record<string, unknown>;
  };
  const value = values && Object.hasOwn(values, id) ? values[id] : undefined;
  if (typeof value === 'string' && value) return value;
  if (errors && Object.hasOwn(errors, id)) refuse(name, `has no ${JSON.stringify(id)}`);
  return provider.jsonOnly || values ? undefined : printed.trim() || undefined;
}

const said = (name: string, what: string) => `the program of secrets.providers.${name} ${what}`;
function refuse(name: string, what: string): never {
  throw new Unavailable(said(name, what));
}
