import { definePlugin, RegisterTools } from '../../kernel/index.ts';
import { applyPatch } from './apply-patch.ts';
import { PathGuard } from './contract.ts';
import { edit } from './edit.ts';
import { guardedOf } from './guarded.ts';
import { openSpot, openUnder } from './path-guard.ts';
import { read } from './read.ts';
import { fenceAt } from './workspace.ts';
import { write } from './write.ts';

export default definePlugin({
  name: 'tools-fs',
  description: 'Tools read, write, edit and apply_patch, all inside the workspace of the agent',
  provides: [PathGuard],
  setup(ctx) {
    ctx.provide(PathGuard, {
      open: async (root, path, run) => openUnder(await fenceAt(root, run), path),
      spot: async (root, path, run) => openSpot(await fenceAt(root, run), path),
      guarded: guardedOf,
    });
    ctx.tap(RegisterTools, (tools) => [...tools, read, write, edit, applyPatch]);
  },
});
