import { definePlugin, Host, RegisterTools } from '../../kernel/index.ts';
import { applyPatch } from './apply-patch.ts';
import { PathGuard } from './contract.ts';
import { edit } from './edit.ts';
import { openSpot, openUnder } from './path-guard.ts';
import { read } from './read.ts';
import { closedTo } from './workspace.ts';
import { write } from './write.ts';

export default definePlugin({
  name: 'tools-fs',
  description: 'Tools read, write, edit and apply_patch, all inside the workspace of the agent',
  needs: { host: Host },
  provides: [PathGuard],
  setup(ctx) {
    const closed = closedTo(ctx.needs.host);
    ctx.provide(PathGuard, {
      open: (root, path) => openUnder({ root, closed }, path),
      spot: (root, path) => openSpot({ root, closed }, path),
    });
    ctx.tap(RegisterTools, (tools) => [...tools, read, write, edit, applyPatch]);
  },
});
