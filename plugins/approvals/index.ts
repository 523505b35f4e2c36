import { Approver, definePlugin, KernelError } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { Store } from '../store/contract.ts';
import { agentOf, approver } from './approver.ts';
import { classify } from './classify.ts';
import { type Clock, wallClock } from './clock.ts';
import { Approvals } from './contract.ts';
import { openDesk } from './desk.ts';
import { allowlistIn, isRemembered, owner, steps } from './memory.ts';
import { methods } from './methods.ts';

/** The plugin with a clock of the caller's. */
export const approvalsOn = (clock: Clock) =>
  definePlugin({
    name: 'approvals',
    description: 'Asks a person on the page or a terminal before a call that policy wants approved',
    needs: { store: Store },
    provides: [Approver, Approvals],
    async setup(ctx) {
      const { store } = ctx.needs;
      await store.migrate(owner, steps);
      const desk = await ctx.lease('approvals:desk', () => openDesk(clock));
      const approvals: Approvals = {
        pending: () => desk.pending(),
        answer: (id, answer, by) => desk.answer(id, { answer, by }),
        answerFrom(id, answer, { name, sender }) {
          if (sender !== 'owner')
            throw new KernelError('APPROVAL_OWNER', `${name} is no owner; only an owner may answer an approval in a chat`);
          return desk.answer(id, { answer, by: name });
        },
        attend: (name, seat) => desk.attend(name, seat),
        remembers: (tool, what, run) => isRemembered(run.get(Store), { agent: agentOf(run), tool, what }),
        classify,
        allowlist: allowlistIn(store, () => clock.now()),
      };
      ctx.provide(Approvals, approvals);
      ctx.provide(Approver, approver(desk, clock));
      const own = methods(desk);
      ctx.tap(Methods, (all) => ({ ...all, ...own }));
    },
  });

export default approvalsOn(wallClock);
