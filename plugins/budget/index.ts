import { definePlugin, type Leasable } from '../../kernel/index.ts';
import { Proposal } from '../approvals/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { AdmitRequest, AskModel, RequestEnded } from '../models/contract.ts';
import { Store } from '../store/contract.ts';
import { admission, type Means } from './admission.ts';
import { calendarOf, isTimeZone } from './day.ts';
import { type Downgraded, downgrade } from './downgrade.ts';
import { openLedger } from './ledger.ts';
import { type BudgetConfig, calendars } from './limits.ts';
import { permission } from './permission.ts';
import { tables } from './rows.ts';
import { agentFields, budgetSchema } from './schema.ts';
import { budgetMethods } from './status.ts';

/** What must be one across reloads. `boot` tells this process's reservations from those of one that died. */
interface Shared extends Leasable {
  readonly boot: string;
  readonly downgraded: Downgraded;
  readonly unpriced: Set<string>;
}

const dayMs = 86_400_000;

export default definePlugin({
  name: 'budget',
  description: 'Limits what is spent on models: per day, agent, session and turn, in tokens and money',
  config: {
    at: 'budget',
    schema: budgetSchema,
    extends: { 'agents.entry': agentFields, 'agents.defaults': agentFields },
    faults(value) {
      const { timeZone } = value as { readonly timeZone?: string };
      if (timeZone === undefined || isTimeZone(timeZone)) return [];
      return [{ path: 'budget.timeZone', message: `${JSON.stringify(timeZone)} is no time zone; give one such as Europe/Berlin` }];
    },
  },
  needs: { store: Store },
  async setup(ctx) {
    const { store } = ctx.needs;
    const config = ctx.config as BudgetConfig;
    const [now, newId] = [Date.now, () => crypto.randomUUID()];
    await store.migrate('budget', tables);
    const shared = await ctx.lease('budget', async (): Promise<Shared> => {
      const boot = newId();
      await openLedger({ store, boot, now, newId }).recover();
      return {
        boot,
        downgraded: new Map(),
        unpriced: new Set(),
        resume() {},
        async [Symbol.asyncDispose]() {},
      };
    });
    const ledger = openLedger({ store, boot: shared.boot, now, newId });
    const asking = permission(ledger, now);
    const { unpriced } = shared;
    const means: Means = {
      config,
      ledger,
      permission: asking,
      store,
      log: ctx.log,
      now,
      calendar: calendars(calendarOf),
      unpriced,
    };
    const { admit, settle } = admission(means);

    // Last: who refuses after this would leave what is reserved behind.
    ctx.tap(AdmitRequest, admit, 1000);
    ctx.tap(RequestEnded, settle);
    ctx.tap(AskModel, downgrade(ctx.log, shared.downgraded), -10);
    ctx.tap(Proposal, (request) => asking.proposal(request));
    ctx.tap(Methods, (methods) => ({ ...methods, ...budgetMethods(means) }));
    ctx.onLive(() => {
      const tidy = () => void ctx.run(() => ledger.prune(now() - config.keepDays * dayMs)).catch(() => {}); // a full disk: another time
      const timer = setInterval(tidy, dayMs / 4);
      timer.unref();
      tidy();
      ctx.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    });
  },
});
