import { Approver, type Run, type Tool, type ToolRequest } from '../../kernel/index.ts';
import type { Proposed } from '../approvals/contract.ts';
import type { Ledger, Over } from './ledger.ts';
import { limitPath, standing } from './refusal.ts';

/** A person is asked by the way of tool calls; this is what asks. Nobody is offered it. */
const tool: Tool = {
  name: 'budget',
  description: 'Goes on beyond a limit of the budget',
  parameters: { type: 'object' },
  execute: () => ({ content: [] }),
};

/** A yes is good for so long, where the limit itself is not over before. */
const grantMs = 24 * 3_600_000;

export interface Permission {
  /** Undefined: it may go on. Else why not. Requests of one run that meet the same limit share one question. */
  ask(run: Run, root: string, over: Over): Promise<string | undefined>;
  /** What approvals shows with such a question. */
  proposal(request: ToolRequest): Proposed | undefined;
}

export function permission(ledger: Ledger, now: () => number): Permission {
  const proposals = new WeakMap<ToolRequest, Proposed>();
  const open = new Map<string, Promise<string | undefined>>();

  async function put(run: Run, root: string, over: Over): Promise<string | undefined> {
    const approver = run.find(Approver);
    if (!approver) return 'a person would have to let it go on, and "approvals" is switched off';
    const scope = over.limit.scope.id;
    const request: ToolRequest = { id: `budget:${root}`, tool, args: { limit: limitPath(over) } };
    proposals.set(request, {
      reasons: ['yes: this turn goes on, with its children'],
      always: {
        adds: ['everybody goes on beyond this limit, for 24 hours'],
        keep: () => ledger.grant(scope, '', now() + grantMs),
      },
    });
    const { allowed, why } = await approver.ask(request, `go on beyond ${limitPath(over)}: ${standing(over)}`, run);
    if (!allowed) return why;
    await ledger.grant(scope, root, now() + grantMs);
    return undefined;
  }

  return {
    ask(run, root, over) {
      const key = `${root} ${over.limit.scope.id}`;
      const asked = open.get(key) ?? put(run, root, over).finally(() => open.delete(key));
      open.set(key, asked);
      return asked;
    },
    proposal: (request) => proposals.get(request),
  };
}
