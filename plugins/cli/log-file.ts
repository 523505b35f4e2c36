import { appendFileSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { isSecretName, type LogRecord } from '../../kernel/index.ts';
import { secretChannel } from '../secrets/contract.ts';
import type { LogFile } from './contract.ts';

type Values = Readonly<Record<string, unknown>>;

export interface LogOptions {
  readonly maxBytes?: number;
  readonly files?: number;
  /** Is told of warnings and errors, in one line each, unless they went to `quiet`. */
  readonly show?: ((line: string) => void) | undefined;
}

/** JSON lines in `<folder>/instar.log`, older ones in `instar.1.log` and so on. Never throws: a full disk loses lines, not turns. */
export function openLog(folder: string, { maxBytes = 5_000_000, files = 5, show }: LogOptions = {}): LogFile {
  const file = (n: number) => join(folder, n ? `instar.${n}.log` : 'instar.log');
  const hidden = new Set<string>();
  let secrets = patterns;
  const lines: string[] = [];
  const flush = () => {
    const batch = lines.splice(0).join('');
    if (!batch) return;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const size = statSync(file(0), { throwIfNoEntry: false })?.size ?? 0;
      const isFull = size > 0 && size + batch.length > maxBytes;
      for (let n = isFull ? files - 2 : -1; n >= 0; n--) {
        if (existsSync(file(n))) renameSync(file(n), file(n + 1));
      }
      appendFileSync(file(0), batch, { mode: 0o600 });
    } catch {
      // nowhere to report it: this is the log
    }
  };
  const quiet = (record: LogRecord) => {
    if (lines.push(`${lineOf(record).replace(secrets, '[hidden]')}\n`) === 1) setTimeout(flush, 50).unref();
  };
  const sink = (record: LogRecord) => {
    quiet(record);
    const { level, plugin, message } = record;
    if (level !== 'warn' && level !== 'error') return;
    show?.(`${level}${plugin ? ` [${plugin}]` : ''} ${message}`.replace(/\s*\n\s*/g, ' ').replace(secrets, '[hidden]'));
  };
  /** From now on, strings whose name says that they are secret are written by none of us. */
  const hide = (values: Values) => {
    const forms = secretsIn(values).flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
    for (const form of forms) hidden.add(RegExp.escape(form));
    secrets = new RegExp([...hidden, patterns.source].join('|'), 'g');
  };
  const onSecret = (secret: unknown) => typeof secret === 'string' && !hidden.has(RegExp.escape(secret)) && hide({ secret });
  subscribe(secretChannel, onSecret);
  process.on('exit', flush);
  const close = () => {
    unsubscribe(secretChannel, onSecret);
    process.off('exit', flush);
    flush();
  };
  return { sink, quiet, hide, flush, close };
}

const patterns = /\bsk-[\w-]{8,}|(?<=\bBearer )[\w.~+/=-]{8,}|(?<=[?&#]token=)[^&\s"]+/g;

function secretsIn(values: Values): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (typeof value === 'object' && value !== null) return secretsIn(value as Values);
    const isSecret = typeof value === 'string' && value.length >= 8 && isSecretName(key);
    return isSecret ? [value] : [];
  });
}

function lineOf(record: LogRecord): string {
  const time = new Date().toISOString();
  try {
    return JSON.stringify({ time, ...record }, (_, value: unknown) => plain(value));
  } catch {
    return JSON.stringify({ time, level: record.level, plugin: record.plugin, message: record.message }); // a circle
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'string' && value.length > 10_000) return `${value.slice(0, 10_000)}…`;
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, code: (value as { code?: unknown }).code, message, stack, cause };
}
