import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, extname } from 'node:path';
import { type SQLInputValue, type StatementResultingChanges, StatementSync } from 'node:sqlite';

export interface WriteWatch {
  /** What is left of a text that is being appended: all of it, or a part after which nothing comes. */
  cut(name: string, text: string): string;
  /** Called once the write is done. */
  done(name: string): void;
}

/**
 * Shows every write of this process that outlives it, in order, without its code knowing: commits by what was changed in
 * them, transcript lines by the role of their message, other appended files by name.
 */
export function watchWrites(watch: WriteWatch): void {
  const append = fs.appendFileSync;
  const appendFileSync = (file: string, text: string, options?: fs.WriteFileOptions) => {
    const name = extname(file) === '.jsonl' ? `transcript: ${roleOf(text)}` : `file: ${basename(file)}`;
    append(file, watch.cut(name, text), options);
    watch.done(name);
  };
  Object.assign(fs, { appendFileSync });
  syncBuiltinESMExports(); // the named imports of all modules are this one from now on

  let changed: string[] = [];
  const run = Reflect.get(StatementSync.prototype, 'run') as RunStatement;
  const watched: RunStatement = function watched(...params) {
    const result = run.apply(this, params);
    const [, verb, table] = /^\s*(INSERT|UPDATE|DELETE)\b.*?\b(\w+)(?=\s+(?:VALUES|SET|WHERE))/is.exec(this.sourceSQL) ?? [];
    if (verb && table && table !== 'schema_versions' && result.changes) changed.push(`${verb.toLowerCase()} ${table}`);
    if (!this.sourceSQL.startsWith('COMMIT')) return result;
    const name = changed.join(', ');
    changed = [];
    if (name) watch.done(name);
    return result;
  };
  Object.assign(StatementSync.prototype, { run: watched });
}

type RunStatement = (this: StatementSync, ...params: SQLInputValue[]) => StatementResultingChanges;

const roleOf = (text: string) => /"message":\{"role":"(\w+)"/.exec(text)?.[1];
