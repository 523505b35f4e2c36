import { definePlugin } from 'instar';
import { Agents } from 'instar/contracts/agents';
import { type Method, Methods, refusal } from 'instar/contracts/gateway';
import { Sessions, sessionKey } from 'instar/contracts/sessions';
import type { Recap } from './contract.ts';

/** Its command asks the gateway, which alone may read the sessions: they may be at work. */
const read: Method = async ({ session = 'main', count = 10 }, _client, run): Promise<Recap> => {
  if (typeof session !== 'string' || !Number.isInteger(count)) throw refusal(400, 'RECAP_PARAMS', '"session" is a key, "count" a number');
  const key = sessionKey(run.get(Agents).defaultId, session);
  if (!(await run.get(Sessions).find(key))) throw refusal(404, 'RECAP_UNKNOWN', `there is no session "${key}"`);
  const { entries } = await run.get(Sessions).open(key);
  const said = entries.flatMap(({ message: { role, content } }) => {
    const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return role === 'toolResult' || !text.trim() ? [] : [{ who: role === 'user' ? 'you' : 'agent', text }];
  });
  return { key, said: said.slice(-Math.max(1, Number(count))) };
};

export default definePlugin({
  name: 'recap',
  description: 'A command of its own, "instar recap": what was said last',
  setup(ctx) {
    ctx.tap(Methods, (methods) => ({ ...methods, 'recap.read': read }));
  },
});
