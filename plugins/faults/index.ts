import { definePlugin, GenerationRejected, GenerationSwapped, Host, isCoded } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { Faults, type NewFault } from './contract.ts';
import { openLedger } from './ledger.ts';
import { messageAfterName, pluginOfLease } from './names.ts';

export default definePlugin({
  name: 'faults',
  description: 'Keeps what plugins did wrong while they ran, for the page and the terminal',
  needs: { host: Host },
  provides: [Faults],
  async setup(ctx) {
    const { run, log } = ctx;
    const { host } = ctx.needs;
    const ledger = await ctx.lease('faults.ledger', () =>
      openLedger({
        generation: () => host.inspect().generation,
        changed: (fault) => void run((on) => on.find(Events)?.publish({ type: 'plugin_fault', data: { ...fault } })).catch(() => {}), // the gateway ends
      }),
    );
    const owners = await ctx.lease('faults.owners', () => Object.assign(new Map<string, string>(), { async [Symbol.asyncDispose]() {} }));
    const learnOwners = () => {
      for (const { plugin, leases } of host.inspect().instances) for (const key of leases) owners.set(key, plugin);
    };
    /** Without a plugin's name, but with that of a lease: then it is told here whose. */
    const note = (fault: NewFault) => {
      const plugin = fault.plugin || pluginOfLease(fault.message, owners);
      if (!plugin) return;
      if (!fault.plugin) log.error(`plugin "${plugin}": ${fault.message}`);
      ledger.note({ ...fault, plugin, message: messageAfterName(fault.message, plugin) });
    };
    ctx.provide(Faults, { note, list: () => ledger.list() });
    ctx.tap(Methods, (methods) => ({ ...methods, 'plugins.faults': () => ({ faults: ledger.list() }) }));
    ctx.tap(GenerationSwapped, learnOwners);
    ctx.onLive(learnOwners);
    ctx.tap(GenerationRejected, ({ error }) => {
      const named = [error, (error as Error).cause].find((one) => isCoded(one) && one.facts?.plugin);
      if (isCoded(named)) note({ plugin: named.facts?.plugin ?? '', code: named.code, message: named.message });
    });
  },
});
