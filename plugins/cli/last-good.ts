import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCoded, logOf, messageOf } from '../../kernel/index.ts';
import type { Booted, BootOptions, HostBooted, LogFile } from './contract.ts';

type Boot = (read?: (file: string) => string) => Promise<HostBooted>;

/** Boots; where the config is at fault, on the texts that were live before, loudly. Keeps those of this boot once they proved good. */
export async function bootOrLastGood(options: BootOptions, log: LogFile, boot: Boot): Promise<Booted> {
  try {
    const booted = await boot();
    if (options.goodAfterMs !== undefined) keepLater(options, booted, log);
    return { ...booted, notices: [] };
  } catch (error) {
    const good = isConfigFault(error) ? readGood(options) : undefined;
    const booted = good && (await boot(good.read).catch(() => undefined));
    if (booted) {
      const loud = `running on the last known good config, of ${good.saved}; mend the file, the edit is taken up at once`;
      return { ...booted, notices: [...messageOf(error).split('\n'), loud] };
    }
    log.close();
    options.lock.release();
    throw error;
  }
}

const isConfigFault = (error: unknown) => {
  const { cause } = error as { cause?: unknown };
  return isCoded(cause) && cause.code.startsWith('CONFIG_');
};

const fileOf = (home: string) => join(home, 'last-good.json');

/** The texts as they stand in the files, raw: `${VAR}` stays what it is. */
function keepLater({ home, configFile, goodAfterMs }: BootOptions, { texts, stopped }: HostBooted, { sink }: LogFile) {
  const timer = setTimeout(() => {
    const now = texts();
    if (!configFile || !now?.size) return;
    try {
      const text = JSON.stringify({ file: configFile, saved: new Date().toISOString(), texts: Object.fromEntries(now) });
      writeFileSync(`${fileOf(home)}.new`, text, { mode: 0o600 });
      renameSync(`${fileOf(home)}.new`, fileOf(home));
    } catch (error) {
      logOf(sink).warn(`the last known good config cannot be kept: ${messageOf(error)}`, { error });
    }
  }, goodAfterMs).unref();
  void stopped.then(() => clearTimeout(timer));
}

function readGood({ home, configFile }: BootOptions) {
  try {
    const good = JSON.parse(readFileSync(fileOf(home), 'utf8')) as { file?: string; saved: string; texts: Record<string, string> };
    return good.file === configFile ? { saved: good.saved, read: (path: string) => good.texts[path] ?? '' } : undefined;
  } catch {
    return undefined; // none was kept
  }
}
