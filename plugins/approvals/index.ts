import { Approver, definePlugin } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { Store } from '../store/contract.ts';
import { agentOf, approver } from './approver.ts';
import { type Clock, wallClock } from './clock.ts';
import { Approvals } from './contract.ts';
import { openDesk } from './desk.ts';
import { isRemembered, owner, steps } from './memory.ts';
import { methods } from './methods.ts';

/** The plugin with a clock of the caller's. */
export const approvalsOn = (clock: Clock) =>
  definePlugin({
    name: 'approvals',
    description: 'Asks a person on the page or a terminal before a call that policy wants approved',
    needs: { store: Store },
    provides: [Approver, Approvals],
    async setup(ctx) {
      await ctx.needs.store.migrate(owner, steps);
      const desk = await ctx.lease('approvals:desk', () => openDesk(clock));
      const approvals: Approvals = {
        pending: () => desk.pending(),
        answer: (id, answer, by) => desk.answer(id, { answer, by }),
        attend: (name) => desk.attend(name),
        remembers: (tool, what, run) => isRemembered(run.get(Store), { agent: agentOf(run), tool, what }),
      };
      ctx.provide(Approvals, approvals);
      ctx.provide(Approver, approver(desk, clock));
      const own = methods(approvals);
      ctx.tap(Methods, (all) => ({ ...all, ...own }));
    },
  });

export default approvalsOn(wallClock);
