import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from '../../docs/generate/sources.ts';
import { sliceConfig } from '../../kernel/host/ownership.ts';
import { readConfig } from '../../plugins/cli/text/config-text.ts';
import { bundledPlugins } from '../../plugins/testing/kit.ts';

const written = ['README.md', ...globSync('{docs,examples}/**/*.md', { cwd: checkout, exclude: ['**/node_modules/**'] })].toSorted();
const textOf = (page: string) => readFileSync(join(checkout, page), 'utf8');

/** Blocks of a language, with their line. `json5 sketch` is for one that is not meant to be run as it stands. */
function blocks(page: string, language: string) {
  const found = textOf(page).matchAll(/^```(\S+)([^\n]*)\n([^]*?)^```$/gm);
  return [...found].flatMap(([whole, name, more = '', code = ''], i, { length }) =>
    name === language && !more.includes('sketch') && i < length
      ? [{ place: `${page}:${textOf(page).slice(0, textOf(page).indexOf(whole)).split('\n').length}`, code }]
      : [],
  );
}

const configs = written.flatMap((page) => blocks(page, 'json5'));
/** Every variable is set: what a block names, its reader has. */
const env = new Proxy({}, { get: () => 'set', has: () => true });

test.each(configs)('the config at $place is one', async ({ place, code }) => {
  const config = readConfig('/page.json5', env, () => code);
  const around = { home: '/home', place: (path: string) => `${place}: ${path}` };
  const { faults } = sliceConfig(config.values, await bundledPlugins(), [], { off: [], unset: [], hasLost: false, around });
  expect(faults.map(({ path, message }) => `${path}: ${message}`)).toEqual([]);
});

test('there are configs to judge', () => {
  expect(configs.length).toBeGreaterThan(10);
});

const anchors = (page: string) =>
  new Set([
    ...[...textOf(page).matchAll(/<a id="([^"]+)"/g)].map(([, id]) => id),
    ...[...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[`*_~]|\[(.*?)\]\(.*?\)/g, '$1')
        .replace(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  ]);

test.each(written)('each link of %s leads somewhere', (page) => {
  const prose = textOf(page)
    .replace(/^```[^]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '');
  const dead = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = '', anchor] = link.split('#');
    const target = file ? resolve(checkout, dirname(page), file) : join(checkout, page);
    if (!existsSync(target)) return [link];
    return anchor === undefined || anchors(target.slice(checkout.length + 1)).has(anchor) ? [] : [link];
  });
  expect(dead).toEqual([]);
});

test('each page is linked from the README or from a page that is', () => {
  const linked = new Set(['README.md']);
  for (const page of linked)
    for (const [, link = ''] of textOf(page).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)) {
      const target = resolve(checkout, dirname(page), link).slice(checkout.length + 1);
      if (written.includes(target)) linked.add(target);
    }
  expect(written.filter((page) => !linked.has(page) && page.startsWith('docs/') && !page.includes('decisions'))).toEqual([]);
});
