import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { definePlugin, GenerationRejected, GenerationSwapped, Host, messageOf, type Swap } from '../../kernel/index.ts';
import { Faults } from '../faults/contract.ts';
import { userFolder, type Watched, watchFiles } from './files.ts';
import { type Leak, openLeaks } from './leaks.ts';
import { openReloader } from './reloader.ts';

export default definePlugin({
  name: 'watch',
  description: 'Makes edits of config and plugins live as their files are saved',
  needs: { host: Host },
  async setup(ctx) {
    const { host } = ctx.needs;
    const { run, log } = ctx;
    const develops = host.flags.watch !== undefined;
    const say = (text: string) => (develops ? console.log(text) : log.info(text));
    // Leases: an edit that is saved while this very plugin is replaced must not be missed.
    const told = await ctx.lease('watch.told', () => ({
      error: undefined as unknown,
      text: '',
      began: 0,
      async [Symbol.asyncDispose]() {},
    }));
    const reloader = await ctx.lease('watch.reloader', () =>
      openReloader({
        reload(changed) {
          told.began = performance.now();
          return host.reload(changed);
        },
        rejected: (error) => {
          if ((error as { cause?: unknown }).cause === told.error) return; // the kernel told it already
          void run((on) => on.call(GenerationRejected, { error, generation: on.generation }));
        },
      }),
    );
    const files = await ctx.lease('watch.files', () =>
      watchFiles(
        (file) => reloader.changed(file),
        (error) => log.warn('a folder cannot be watched', { error }),
      ),
    );
    /** The folder is made first, for chokidar watches all beside one that is not there; at once, for an edit may come at once. */
    const follow = async () => {
      mkdirSync(userFolder(host.home), { recursive: true });
      await files.follow(watched(host, develops));
    };
    const tell = ({ plugin, what, place }: Leak) => {
      const said = `left ${what} behind`;
      const cure = 'end it on ctx.signal or in ctx.defer';
      log.warn(`plugin "${plugin}" ${said}${place ? ` (${place})` : ''}; ${cure}`);
      const fault = { plugin, code: 'PLUGIN_LEAK', message: `${said}; ${cure}`, ...(place && { place }) };
      void run((on) => on.find(Faults)?.note(fault)).catch(() => {}); // the gateway ends
    };
    const leaks = develops ? await ctx.lease('watch.leaks', () => openLeaks(tell)) : undefined;
    if (leaks) ctx.tap(GenerationSwapped, (swap) => leaks.swapped(host, swap), -1000); // first, for it looks at the clock
    ctx.tap(GenerationRejected, ({ error, generation }) => {
      told.error = error;
      const text = `rejected, generation ${generation} goes on: ${messageOf(error)}`;
      if (text !== told.text) log.warn(text); // saved again, and not mended: who saved it has read why
      told.text = text;
    });
    ctx.tap(GenerationSwapped, async (swap) => {
      told.text = '';
      const text = changes(swap, performance.now() - told.began);
      await follow();
      if (text && swap.generation > 1) say(text);
    });
    ctx.onLive(async () => {
      leaks?.start(host);
      await follow();
    });
  },
});

/** Our own plugins only for those who develop them. */
function watched(host: Host, develops: boolean): Watched {
  const { config, roots, plugins } = host.sources();
  const main = host.configFile ?? join(host.home, 'instar.json5');
  return {
    files: [...new Set([main, ...config, join(host.home, '.env')])],
    roots,
    folders: develops ? plugins.map((file) => dirname(file)) : [],
  };
}

/** `wholeMs` since the change was taken up; what is not building and swapping is reading and bundling. */
function changes({ generation, built, removed, ms }: Swap, wholeMs: number): string | undefined {
  const lines = [...built.map(({ plugin, why }) => `${plugin} (${why})`), ...removed.map((plugin) => `${plugin} (removed)`)];
  const parts = `${Math.round(wholeMs - ms)} to read and bundle, ${Math.round(ms)} to build and swap`;
  return lines.length ? `generation ${generation} is live after ${Math.round(wholeMs)} ms (${parts}): ${lines.join(', ')}` : undefined;
}
