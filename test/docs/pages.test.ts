import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import JSON5 from 'json5';
import { expect, test } from 'vitest';
import { pages } from '../../docs/generate.ts';
import { undescribed } from '../../docs/generate/config-page.ts';
import { everyKey } from '../../docs/generate/examples.ts';
import { checkout } from '../../docs/generate/sources.ts';
import type { JsonSchema, Plugin, PluginConfig } from '../../kernel/index.ts';
import { bundledPlugins } from '../../plugins/testing/kit.ts';
import { configSchema } from '../../schemas/generate.ts';

const plugin = (name: string, config: PluginConfig): Plugin => ({ name, description: name, config, setup() {} });
const object = (properties: JsonSchema, more: JsonSchema = {}) => ({ type: 'object', properties, ...more });

test.each(Object.entries(await pages()))('%s is what the sources say (else: npm run docs)', async (file, text) => {
  expect(await readFile(join(checkout, file), 'utf8')).toBe(text);
});

test('every key of the config says what it does', async () => {
  expect(undescribed(await bundledPlugins())).toEqual([]);
});

test('a key without a description is found in lists, maps, variants and in what others add', () => {
  const list = { type: 'array', description: 'x', items: object({ inList: { type: 'string' } }) };
  const map = object({}, { description: 'x', additionalProperties: object({ inMap: {} }) });
  const either = { description: 'x', anyOf: [{ type: 'string' }, object({ inVariant: {} })] };
  const owner = plugin('owner', { at: 'a', schema: object({ list, map, either }, { 'x-place': 'a' }) });
  const other = plugin('other', { at: 'b', schema: object({}), extends: { a: { added: { type: 'boolean' } } } });
  expect(undescribed([owner, other])).toEqual([
    'a.list[].inList: plugin "owner" gives it no description',
    'a.map.<name>.inMap: plugin "owner" gives it no description',
    'a.either.inVariant: plugin "owner" gives it no description',
    'a.added: plugin "other" gives it no description',
  ]);
});

test('the examples of the config page are a config that fits the schema', async () => {
  const check = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(await configSchema()) as object);
  check(JSON5.parse(await readFile(join(checkout, everyKey), 'utf8')));
  expect(check.errors ?? []).toEqual([]);
});
