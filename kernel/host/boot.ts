import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Candidate } from '../build.ts';
import { isCoded, KernelError, messageOf } from '../error.ts';
import { Kernel, type Values } from '../kernel.ts';
import { type Log, type LogSink, logOf } from '../log.ts';
import { given } from '../run.ts';
import { type ConfigText, type Env, faultLines, readConfig } from './config-text.ts';
import { Host } from './contract.ts';
import { discover, type Found } from './discovery.ts';
import { type Bundle, loadPlugins } from './loader.ts';
import { type Lock, writeWhole } from './lock.ts';
import { check, pathOf } from './ownership.ts';
import { ConfigError } from './problem.ts';

export interface BootOptions {
  readonly version: string;
  /** The state folder, absolute. */
  readonly home: string;
  readonly env: Env;
  readonly configFile: string | undefined;
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** Let go of at the stop, or where the boot fails. */
  readonly lock: Lock;
  /** Keeps a config that was live for so long as the last known good one. */
  readonly goodAfterMs?: number;
  readonly log: LogFile;
  readonly bundle: Bundle;
}

/** Where records are kept. */
export interface LogFile {
  readonly sink: LogSink;
  /** As `sink`, for what its caller shows itself. */
  readonly quiet: LogSink;
  /** From now on, strings whose name says that they are secret are written by none of us. */
  readonly hide: (values: Values) => void;
  readonly close: () => void;
}

/** Text → plugins → generation, in this process. Rejects with BOOT_FAILED, whose message has a line per fault. */
export async function boot(options: BootOptions) {
  const { home, version, configFile, env, flags, lock, goodAfterMs } = options;
  const file = options.log;
  const log = logOf(file.sink);
  file.hide(env);
  let text: ConfigText | undefined;
  let keeper: NodeJS.Timeout | undefined;
  const host: Host = {
    home,
    version,
    configFile,
    env,
    flags,
    place: (path) => text?.place(path) ?? path,
    announce: (facts) => lock.announce({ version, configFile, ...facts }),
    inspect: () => kernel.inspect(),
    stop: (why) => void ending.stop(why),
  };
  const kernel = new Kernel({ check, sink: file.sink, services: [given(Host, host)] });
  const ending = endOnce(log, async () => {
    clearTimeout(keeper);
    await kernel.drain();
    log.info('stopped');
    file.close();
    lock.release();
  });
  const enter = async (read: () => ConfigText) => {
    text = undefined;
    text = read();
    file.hide(text.values);
    const { leftOut, ...candidate } = await candidateOf(text, options);
    for (const { plugin, why, code } of leftOut) log.error(`plugin "${plugin}" is left out: ${why}`, { code });
    await kernel.apply({ ...candidate, leftOut });
    return text;
  };
  const notices: string[] = [];
  try {
    const live = await enter(() => readConfig(configFile, env));
    if (configFile && goodAfterMs !== undefined) keeper = setTimeout(keepGood, goodAfterMs, home, live, log).unref();
  } catch (cause) {
    notices.push(...faultLines(cause, (path) => host.place(path)));
    for (const message of notices) file.quiet({ level: 'error', message }); // whoever starts us shows them
    const good = isCoded(cause) && cause.code.startsWith('CONFIG_') ? readGood(home, configFile) : undefined;
    const entered = good && (await enter(() => readConfig(configFile, env, good.read)).catch(() => undefined));
    const failed = new KernelError('BOOT_FAILED', notices.join('\n'), { cause });
    if (!entered) throw await ending.stop('the boot failed').then(() => failed);
    notices.push(`running on the last known good config, of ${good.saved}; mend the file and start again`);
  }
  return { ...ending, run: kernel.run, notices, abort: (why: string) => kernel.abort(why) };
}

/** Finds and loads what the text asks for. A plugin that cannot be loaded is left out. */
async function candidateOf(text: ConfigText, { home, version, bundle }: BootOptions) {
  const { found, problems } = discover(text.values, home, text.file ? dirname(text.file) : home);
  const faults = [...text.problems, ...problems];
  if (faults.length) throw new ConfigError(faults);
  const load = (which: readonly Found[]) => loadPlugins(which, version, bundle);
  const loaded = await load(found.filter(({ enabled }) => enabled));
  // What a plugin that is off owns is no unknown key. Only our own are read for that: nothing of a stranger's runs.
  const off = (await load(found.filter(({ bundled, enabled }) => bundled && !enabled))).entries.map(({ plugin }) => plugin);
  const needed = off.filter(({ required }) => required);
  const message = 'this plugin is required; take the line out, the gateway cannot run without it';
  if (needed.length) throw new ConfigError(needed.map(({ name }) => ({ path: `plugins.entries.${name}.enabled`, message })));
  const dormant = off.map(pathOf);
  return { plugins: loaded.entries, leftOut: loaded.leftOut, config: text.values, dormant } satisfies Candidate;
}

/** The texts of a config that was live, raw: `${VAR}` stays what it is. */
function keepGood(home: string, { file, texts }: ConfigText, log: Log) {
  try {
    const saved = new Date().toISOString();
    writeWhole(join(home, 'last-good.json'), JSON.stringify({ file, saved, texts: Object.fromEntries(texts) }));
  } catch (error) {
    log.warn(`the last known good config cannot be kept: ${messageOf(error)}`, { error });
  }
}

function readGood(home: string, file: string | undefined) {
  try {
    const good = JSON.parse(readFileSync(join(home, 'last-good.json'), 'utf8')) as {
      readonly file?: string;
      readonly saved: string;
      readonly texts: Readonly<Record<string, string>>;
    };
    return good.file === file ? { saved: good.saved, read: (path: string) => good.texts[path] ?? '' } : undefined;
  } catch {
    return undefined; // none was kept
  }
}

/** Whoever asks first begins the end. */
function endOnce(log: Log, close: () => Promise<void>) {
  const { promise: stopped, resolve } = Promise.withResolvers<number>();
  let ending: Promise<void> | undefined;
  const end = async (why: string, code: number) => {
    log.info(`stopping: ${why}`);
    await close();
    resolve(code);
  };
  return { stop: (why: string, code = 0) => (ending ??= end(why, code)), stopped };
}
