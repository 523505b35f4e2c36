import { definePlugin } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { AdmitRequest, AskModel, Models, type UnsignedRequest } from '../models/contract.ts';
import { answer, type Means } from './answer.ts';
import type { Clock } from './deadline.ts';
import { failoverMethods } from './methods.ts';
import { openSwitches } from './switches.ts';

const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 3600 } as const;

const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'When another profile or model is asked',
  properties: {
    firstByteSeconds: { ...seconds, default: 180, description: 'How long an attempt may take to show its first sign' },
    idleSeconds: { ...seconds, default: 180, description: 'How long it may be silent after that' },
    waitSeconds: {
      type: 'number',
      minimum: 0,
      maximum: 600,
      default: 15,
      description: 'Where all else has failed: how long a model that rests, or said when to come again, is waited for, once; 0: never',
    },
  },
} as const;

export default definePlugin({
  name: 'failover',
  description: 'Asks the next profile, then the next model, where one does not answer',
  config: { at: 'failover', schema },
  async setup(ctx) {
    const { firstByteSeconds, idleSeconds, waitSeconds } = ctx.config;
    // Lengthened a little, each time otherwise: not all sessions give up at one moment.
    const jittered = (s: number) => s * 1000 * (1 + Math.random() / 5);
    const means: Means = {
      switches: await ctx.lease('failover:switches', openSwitches),
      deadlines: () => ({ firstMs: jittered(firstByteSeconds), idleMs: jittered(idleSeconds), graceMs: 1000 }),
      patienceMs: waitSeconds * 1000,
      clocks: new WeakMap(),
      random: Math.random,
      log: ctx.log,
    };
    ctx.tap(AskModel, (ask, run) => (run.find(Models) ? answer(ask, run, means) : undefined));
    // Around all others: while a person is asked whether a request may go out, its server is not late.
    const turns = (how: keyof Clock) => (request: UnsignedRequest) => {
      means.clocks.get(request.signal)?.[how]();
      return undefined;
    };
    ctx.tap(AdmitRequest, turns('stop'), -10_000);
    ctx.tap(AdmitRequest, turns('start'), 10_000);
    ctx.tap(Methods, (methods) => ({ ...methods, ...failoverMethods(means.patienceMs) }));
  },
});
