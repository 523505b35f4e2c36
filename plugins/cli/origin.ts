import { channel } from 'node:diagnostics_channel';
import type { Plugin } from '../../kernel/index.ts';
import { type Origin, originChannel } from './contract.ts';

const origins = channel(originChannel);

/**
 * The plugin, with all that it does marked as its own: what it makes, and what it throws where no stack tells whose it is
 * (a socket's error, a thrown text), has a name. Costs a step per call of its taps.
 */
export function marked(value: unknown): unknown {
  const plugin = (value ?? {}) as Plugin;
  if (typeof plugin.setup !== 'function') return value; // whoever checks its shape says what is wrong
  const setup: Plugin['setup'] = (ctx) => markedSetup(plugin, ctx);
  return Object.create(plugin, { setup: { value: setup, enumerable: true } });
}

function markedSetup(plugin: Plugin, ctx: Parameters<Plugin['setup']>[0]) {
  const instance = {};
  const as = <T>(part: Origin['part'], work: () => T): T => {
    const origin: Origin = { plugin: plugin.name, part, instance };
    return origins.runStores(origin, work);
  };
  const context: typeof ctx = {
    ...ctx,
    run: (work, options) => ctx.run((run) => as('run', () => work(run)), options),
    tap: (hook, fn, options) => ctx.tap(hook, (value, run) => as('run', () => fn(value, run)), options),
    lease: (key, create) => ctx.lease(key, () => as('lease', create)),
    onLive: (start) => ctx.onLive(() => as('live', start)),
  };
  return as('setup', () => plugin.setup.call(plugin, context));
}
