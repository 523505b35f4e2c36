import { expect, test } from 'vitest';
import { sliceConfig } from '../../kernel/host/ownership.ts';
import type { Plugin, PluginConfig } from '../../kernel/index.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', additionalProperties: false, properties, ...more });
const owner = (name: string, config: PluginConfig): Plugin => ({ name, description: '', config, setup() {} });

const gateway = owner('gateway', { at: 'gateway', schema: object({ port: { type: 'integer' } }, { 'x-place': 'gateway' }) });
const chat = owner('chat', {
  at: 'gateway.chat',
  schema: object({ on: { type: 'boolean' } }),
  extends: { gateway: { banner: { type: 'string' } } },
});
const providers = { type: 'object', 'x-contained': true, additionalProperties: object({ key: { type: 'string', minLength: 1 } }) };
const models = owner('models', { at: 'models', schema: object({ providers, mode: { type: 'string' } }) });
const memory = owner('memory', { schema: object({ key: { type: 'string' } }) });
const none = { off: [], hasLost: false, unset: [], around: { home: '/h', place: (path: string) => path } };

const faults = (config: object, plugins: readonly Plugin[], aside: Partial<NonNullable<Parameters<typeof sliceConfig>[3]>> = {}) =>
  sliceConfig(config as never, plugins, [], { ...none, ...aside }).faults;

test('the path of a plugin that is off, and what it adds to others’ places, are no unknown keys', () => {
  const config = { gateway: { port: 1, banner: 'hello', chat: { nonsense: 1 } } };
  expect(faults(config, [gateway]).map(({ path }) => path)).toEqual(['gateway.banner', 'gateway.chat']);
  expect(faults(config, [gateway], { off: [chat] })).toEqual([]);
  expect(faults({ gateway: { baner: '' } }, [gateway], { off: [chat] })).toMatchObject([{ path: 'gateway.baner', nearest: 'banner' }]);
});

test('while a plugin cannot be loaded, a key that nobody else owns may be its own', () => {
  const config = { weather: { city: 'Oslo' }, gateway: { port: 'x' } };
  expect(faults(config, [gateway]).map(({ path }) => path)).toEqual(['weather', 'gateway.port']);
  expect(faults(config, [gateway], { hasLost: true }).map(({ path }) => path)).toEqual(['gateway.port']);
});

test('a variable that is not set is a fault of the smallest block that needs it', () => {
  const unset = (...keys: string[]) => ({ unset: [{ keys, path: keys.join('.'), message: 'not set' }] });
  const memoryConfig = { plugins: { entries: { memory: { config: { key: '' } } } } };
  const config = { models: { mode: '', providers: { a: { key: '' }, b: { key: 'k' } } }, ...memoryConfig };
  const blocks = (...keys: string[]) =>
    faults(config, [models, memory, gateway], unset(...keys)).map(({ message, block }) => [message, block]);
  expect(blocks('models', 'providers', 'a', 'key')).toEqual([['not set', 'models.providers.a']]);
  expect(blocks('models', 'mode')).toContainEqual(['not set', undefined]); // of the whole config: it can be left out of nothing
  expect(blocks('plugins', 'entries', 'memory', 'config', 'key')).toContainEqual(['not set', 'memory']);
  const { slices } = sliceConfig(config, [models], ['plugins'], { ...none, ...unset('models', 'providers', 'a', 'key') });
  expect(slices.get('models')).toEqual({ mode: '', providers: { b: { key: 'k' } } });
});

test('a path may hold a list or a plain value; unwritten it is empty, its default, or undefined', () => {
  const list = owner('list', { at: 'list', schema: { type: 'array', items: { type: 'string' } } });
  const mode = owner('mode', { at: 'mode', schema: { type: 'string', default: 'fast' } });
  const word = owner('word', { at: 'word', schema: { type: 'string' } });
  const all = [list, mode, word];
  const slicesOf = (config: object) => Object.fromEntries(sliceConfig(config as never, all, []).slices);
  expect(slicesOf({})).toEqual({ list: [], mode: 'fast', word: undefined });
  expect(slicesOf({ list: ['a'], mode: 'slow', word: 'w' })).toEqual({ list: ['a'], mode: 'slow', word: 'w' });
  expect(faults({ list: {}, word: 1 }, all).map(({ path }) => path)).toEqual(['list', 'word']);
});
