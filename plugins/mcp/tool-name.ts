import { hash } from 'node:crypto';

/** Providers take 64 characters of these. */
const most = 64;

/** `mcp__<server>__<tool>`; a name that is cut or changed gets a piece of its hash, so that two never become one. */
export function toolName(server: string, tool: string): string {
  const plain = tool.replace(/[^A-Za-z0-9_-]/g, '_');
  const name = `${serverPrefix(server)}${plain}`;
  if (plain === tool && name.length <= most) return name;
  return `${name.slice(0, most - 7)}_${hash('sha256', tool).slice(0, 6)}`;
}

/** Tools of others do not begin so. */
export const toolPrefix = 'mcp__';
export const serverPrefix = (server: string) => `${toolPrefix}${server}__`;

/** A list of names with `*` wildcards, as a question of one name. */
export function namesIn(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map(
    (pattern) =>
      new RegExp(
        `^${pattern
          .split('*')
          .map((part) => RegExp.escape(part))
          .join('.*')}$`,
        's',
      ),
  );
  return (name) => tests.some((test) => test.test(name));
}
