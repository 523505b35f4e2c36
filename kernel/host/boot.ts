import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Candidate } from '../build.ts';
import { isCoded, KernelError, messageOf } from '../error.ts';
import { Kernel, type Values } from '../kernel.ts';
import { type LogSink, logOf } from '../log.ts';
import type { Swap } from '../points.ts';
import { given } from '../run.ts';
import { type ConfigText, Host } from './contract.ts';
import { discover } from './discovery.ts';
import { type Bundle, openLoader } from './loader.ts';
import type { Lock } from './lock.ts';
import { check, sliceConfig } from './ownership.ts';
import { ConfigError, type Problem } from './schema.ts';

type Env = Host['env'];

export interface BootOptions {
  readonly version: string;
  readonly home: string;
  /** The environment as it is now: read again at each reload. */
  readonly env: () => Env;
  readonly configFile: string | undefined;
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** Let go of at the stop; where the boot fails it stays its owner's. */
  readonly lock: Lock;
  readonly log: LogFile;
  readonly bundle: Bundle;
  /** Text of config files → values; throws CONFIG_TEXT, in one line, where there are no values to go on with. */
  readonly readConfig: (file: string | undefined, env: Env, read?: BootOptions['read']) => ConfigText;
  /** Reads config files from elsewhere at the boot, e.g. those of the last known good config. */
  readonly read?: (file: string) => string;
}

/** Where records are kept: `quiet` shows them to nobody, and what `hide` is given is never written where its name says that it is secret. */
export type LogFile = Readonly<Record<'sink' | 'quiet', LogSink> & { hide: (values: Values) => void; close: () => void }>;

/** Text → plugins → generation, in this process. Rejects with BOOT_FAILED, whose message has a line per fault. */
export async function boot(options: BootOptions) {
  const { home, version, configFile, flags, lock, log: file } = options;
  const log = logOf(file.sink);
  const loader = openLoader(version, options.bundle);
  const usual = join(home, 'instar.json5');
  let text: ConfigText | undefined;
  let roots: readonly string[] = [];
  let aside: Parameters<typeof sliceConfig>[3];
  let live: Candidate | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const host: Host = {
    home,
    version,
    configFile,
    flags,
    get env() {
      return options.env();
    },
    place: (path) => text?.place(path) ?? path,
    announce: (facts) => lock.announce({ version, configFile, ...facts }),
    inspect: () => kernel.inspect(),
    sources: () => ({ config: [...(text?.texts.keys() ?? [])], roots, plugins: [...loader.files.values()].flat() }),
    reload(changed = [], hard = []) {
      loader.touch(changed);
      const next = queue.then(() => enter(undefined, hard));
      queue = next.catch(() => {});
      return next;
    },
    stop: (why) => void stop(why),
  };
  const fault = (faults: readonly Problem[]) => new ConfigError(faults, (path) => host.place(path));
  const slice: typeof check.slice = (...of) => sliceConfig(...of, aside);
  const kernel = new Kernel({ check: { ...check, slice, error: fault }, sink: file.sink, services: [given(Host, host)] });
  const { promise: stopped, resolve } = Promise.withResolvers<number>();
  let ending: Promise<void> | undefined;
  const end = async (why: string, code: number) => {
    log.info(`stopping: ${why}`);
    await kernel.drain();
    log.info('stopped');
    file.close();
    lock.release();
    resolve(code);
  };
  const stop = (why: string, code = 0) => (ending ??= end(why, code)); // whoever asks first begins the end

  /** The text and its places are the candidate's while it is built, and the live ones again where it is rejected. */
  async function enter(read?: BootOptions['read'], hard: readonly string[] = []): Promise<Swap> {
    const before = text;
    const env = options.env();
    file.hide(env);
    try {
      // Once there is a config, its absence is a fault: a file that is being replaced is gone for a moment.
      const at = configFile ?? before?.file ?? (existsSync(usual) ? usual : undefined);
      const next = options.readConfig(at, env, read);
      text = next;
      file.hide(next.values);
      const candidate = await candidateOf(next);
      // What a hard reload closed for code that then failed, the code that is live makes anew.
      const swap = await kernel.apply(anew(candidate, hard)).catch(async (cause: unknown) => {
        if (live && hard.length) await kernel.apply(anew(live, hard));
        throw cause;
      });
      live = candidate;
      return swap;
    } catch (cause) {
      text = before;
      throw new KernelError(isCoded(cause) ? cause.code : 'RELOAD_FAILED', messageOf(cause), { cause });
    }
  }

  /** Finds and loads what the text asks for. A plugin that cannot be loaded is left out, unless it is live. */
  async function candidateOf({ values, problems: unset, file: at, isForeign }: ConfigText): Promise<Candidate> {
    const { found, problems, roots: places } = discover(values, home, at ? dirname(at) : home, isForeign);
    if (problems.length) throw fault(problems);
    roots = places;
    const loaded = await loader.load(found.filter(({ enabled }) => enabled));
    // What a plugin that is off owns is no unknown key. Only our own are read for that: nothing of a stranger's runs.
    const off = (await loader.load(found.filter(({ bundled, enabled }) => bundled && !enabled))).entries.map(({ plugin }) => plugin);
    const needed = off.filter(({ required }) => required);
    const message = 'this plugin is required; take the line out, the gateway cannot run without it';
    if (needed.length) throw fault(needed.map(({ name }) => ({ path: `plugins.entries.${name}.enabled`, message })));
    const current = kernel.inspect().instances.map(({ plugin }) => plugin);
    for (const { plugin, why, code } of loaded.leftOut) {
      if (current.includes(plugin)) throw new KernelError(code, why, { plugin });
      log.error(`plugin "${plugin}" is left out: ${why}`, { code });
    }
    aside = { off, unset, hasLost: loaded.leftOut.length > 0, around: { home, place: (path) => host.place(path) } };
    return { plugins: loaded.entries, leftOut: loaded.leftOut, config: values };
  }

  await enter(options.read).catch(async (cause: KernelError) => {
    for (const message of cause.message.split('\n')) file.quiet({ level: 'error', message }); // whoever starts us shows them
    await kernel.drain();
    throw new KernelError('BOOT_FAILED', cause.message, { cause });
  });
  return { stop, stopped, run: kernel.run, abort: (why: string) => kernel.abort(why), texts: () => text?.texts };
}

const anew = (candidate: Candidate, hard: readonly string[]): Candidate => {
  const plugins = candidate.plugins.map((entry) => ({ ...entry, isAnew: hard.includes(entry.plugin.name) }));
  return { ...candidate, plugins };
};
