import { definePlugin } from 'instar';
import { Store } from 'instar/contracts/store';
import { Notes } from './contract.ts';

/** One per version, in order: a later version of this plugin adds to the list. */
const tables = ['CREATE TABLE notes (at INTEGER NOT NULL, text TEXT NOT NULL)'];

export default definePlugin({
  name: 'notes',
  description: 'A service for other plugins: notes that survive reloads and restarts',
  needs: { store: Store },
  provides: [Notes],
  async setup(ctx) {
    const { store } = ctx.needs;
    await store.migrate('notes', tables);
    ctx.provide(Notes, {
      add: (text) => store.tx(async (t) => void (await t.run('INSERT INTO notes (at, text) VALUES (?, ?)', Date.now(), text))),
      list: () => store.tx((t) => t.all('SELECT at, text FROM notes ORDER BY rowid DESC')),
    });
  },
});
