import { type Log, messageOf, type Run } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import { AskModel, type Model, type ModelAsk, type ModelReply, Models } from '../models/contract.ts';
import { addUsage } from '../sessions/contract.ts';
import { Turn } from '../turns/contract.ts';
import { isBudgetFailure } from './contract.ts';

/** Sessions in which another model answers because of a limit, as told. One for all generations. */
export type Downgraded = Map<string, { readonly from: string; readonly to: string }>;
const most = 10_000;

/** Asks as everybody does, and where a limit names another model, once more with that one. */
export function downgrade(log: Log, downgraded: Downgraded) {
  const mine = new WeakSet<ModelAsk>();
  const ask = (one: ModelAsk, run: Run) => {
    const again = { ...one };
    mine.add(again);
    return run.call(AskModel, again);
  };

  return async (one: ModelAsk, run: Run): Promise<ModelReply | undefined> => {
    if (mine.has(one)) return undefined;
    const first = await ask(one, run);
    const to = isBudgetFailure(first?.failure) ? first.failure.useModel : undefined;
    if (!first || to === undefined) {
      if (first && !first.failure) tellBack(run, first);
      return first;
    }
    const model = await run
      .get(Models)
      .resolve(run, to)
      .catch((error: unknown) => {
        log.warn(`a limit names a model that cannot answer: ${messageOf(error)}`);
        return undefined;
      });
    if (!model) return first;
    // Once it answers: where the limit has no room for it either, nothing changes.
    const answers = () => tell(run, refOf(one.request.model), to);
    const on: ModelAsk['on'] = (event) => {
      answers();
      one.on(event);
    };
    const second = await ask({ on, request: { ...one.request, model, tools: await offered(one, model, run) } }, run);
    if (!isBudgetFailure(second?.failure)) answers();
    return second && { ...second, spent: addUsage(first.spent ?? first.message.usage, second.spent ?? second.message.usage) };
  };

  function tell(run: Run, from: string, to: string) {
    const turn = run.find(Turn);
    if (!turn) return;
    const known = downgraded.get(turn.sessionId);
    if (known?.from === from && known.to === to) return;
    downgraded.set(turn.sessionId, { from, to });
    const [oldest] = downgraded.keys();
    if (downgraded.size > most && oldest !== undefined) downgraded.delete(oldest);
    publish(run, turn, { from, to, isBack: false, reason: 'budget' });
  }

  function tellBack(run: Run, { message }: ModelReply) {
    const turn = run.find(Turn);
    const known = turn && downgraded.get(turn.sessionId);
    if (!turn || !known || known.from !== `${message.provider}/${message.model}`) return;
    downgraded.delete(turn.sessionId);
    publish(run, turn, { from: known.to, to: known.from, isBack: true });
  }
}

function publish(run: Run, { sessionKey, runId }: Turn, data: Readonly<Record<string, unknown>>) {
  run.find(Events)?.publish({ type: 'model_switched', sessionKey, runId, data });
}

/** Another provider's model is offered no tool that policy would not offer it. */
async function offered({ request }: ModelAsk, model: Model, run: Run): Promise<ModelAsk['request']['tools']> {
  if (request.tools.length === 0) return request.tools;
  const { tools } = await run.as({ subject: { ...run.subject, provider: model.provider, model: model.id } }).tools();
  const names = new Set(tools.map(({ name }) => name));
  return request.tools.filter(({ name }) => names.has(name));
}

const refOf = ({ provider, id }: Model) => `${provider}/${id}`;
