import { definePlugin, type EnterRun, KernelError, type Plugin } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Arrival, Inbox } from '../inbox/contract.ts';
import { type Delivery, SendDelivery } from '../outbox/contract.ts';
import { groupFaults, groupToolsIn, GroupTools, type ChannelGroups } from '../policy/contract.ts';
import { sessionKey } from '../sessions/contract.ts';

/** What came back for one message. */
export interface Answer extends Delivery {
  /** All that a person would read of it. */
  readonly text: string;
}

/** A plugin that talks as a person on a channel would. */
export interface FakeChannel extends Plugin {
  /** All answers, oldest first. */
  readonly answers: readonly Answer[];
  /** Says something as the owner, and waits for the answer. `arrival` changes who says it, where and to whom. */
  ask(text: string, arrival?: Partial<Arrival>): Promise<Answer>;
}

type Config = { readonly groups?: ChannelGroups };
const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'The channel of a test',
  properties: {
    groups: {
      type: 'object',
      description: 'Rules of its groups, by id; `*` is every other one',
      additionalProperties: { type: 'object', 'x-place': 'channels.group', additionalProperties: false, properties: {} },
    },
  },
};

/** A channel without a wire: what is asked goes into the inbox, what is delivered to it is the answer. */
export function fakeChannel(): FakeChannel {
  const answers: Answer[] = [];
  const waiting = new Map<string, PromiseWithResolvers<Answer>>();
  let asked = 0;
  let enter: EnterRun = () => Promise.reject(new KernelError('NOT_LIVE', 'the plugin of fakeChannel is not live; add it to plugins'));
  const plugin = definePlugin({
    name: 'fake-channel',
    description: 'A channel of a test',
    config: { at: 'channels.fake', schema, faults: (value) => groupFaults((value as Config).groups, 'channels.fake.groups') },
    setup(ctx) {
      ctx.tap(GroupTools, groupToolsIn('fake', (ctx.config as unknown as Config).groups));
      ctx.tap(SendDelivery, (delivery) => {
        if (!delivery.route.startsWith('fake:')) return undefined;
        const text = delivery.payloads.flatMap((payload) => payload.text ?? []).join('\n\n');
        answers.push({ ...delivery, text });
        waiting.get(delivery.route)?.resolve({ ...delivery, text });
        return { kind: 'delivered' };
      });
      enter = ctx.run;
    },
  });

  async function ask(content: string, arrival: Partial<Arrival> = {}): Promise<Answer> {
    const route = `fake:${++asked}`;
    const answer = Promise.withResolvers<Answer>();
    waiting.set(route, answer);
    await enter((run) => {
      const agentId = arrival.agentId ?? run.get(Agents).defaultId;
      return run.get(Inbox).enqueue({
        agentId,
        content,
        provenance: { kind: 'external_user', channel: 'fake' },
        subject: { channel: 'fake', sender: 'owner', session: 'main' },
        ...arrival,
        sessionKey: sessionKey(agentId, arrival.sessionKey ?? 'main'),
        route,
      });
    });
    return answer.promise.finally(() => waiting.delete(route));
  }
  return Object.assign(plugin, { answers, ask });
}
