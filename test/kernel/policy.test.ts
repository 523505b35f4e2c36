import { expect, test } from 'vitest';
import {
  Approver,
  DecideTool,
  FilterPolicy,
  given,
  type Offer,
  type Plugin,
  RegisterTools,
  type Run,
  service,
  type Tool,
  type Verdict,
} from '../../kernel/index.ts';
import { bootTest, entry, plugin, type TestKernel } from '../support/kernel.ts';

/** Tools that write down what was done with them. */
function scene() {
  const done: string[] = [];
  const tool = (name: string): Tool => ({ name, description: '', parameters: {}, execute: () => (done.push(name), { content: [] }) });
  const tools = plugin('tools', (ctx) => ctx.tap(RegisterTools, (all) => [...all, tool('read'), tool('write'), tool('exec')]));
  return { done, tool, tools };
}

const allow: Verdict = { kind: 'allow' };
const ask: Verdict = { kind: 'ask', why: 'it writes', rule: 'asks' };
const deny: Verdict = { kind: 'deny', why: 'it is night', rule: 'night' };
const decider = (name: string, decide: () => unknown) => plugin(name, (ctx) => ctx.tap(DecideTool, decide as () => Verdict));
const filter = (name: string, narrow: (offer: Offer) => Offer) => plugin(name, (ctx) => ctx.tap(FilterPolicy, narrow));
const without =
  (name: string, removed: Offer['removed'] = []) =>
  (offer: Offer) => ({
    tools: offer.tools.filter((one) => one.name !== name),
    removed: [...offer.removed, ...removed],
  });
const asks = (name: string, approver: Approver) => plugin(name, (ctx) => ctx.provide(Approver, approver), { provides: [Approver] });
const says = (allowed: boolean, why = 'the owner said so') => asks('approvals', { ask: async () => ({ allowed, why }) });

const names = (offer: Offer) => offer.tools.map(({ name }) => name);
const offerOf = (t: TestKernel) => t.kernel.run((run) => run.tools());
const exec = (run: Run) => run.callTool({ id: '1', name: 'exec', args: {} });
const textOf = ({ content }: { readonly content: readonly unknown[] }) => (content[0] as { text: string } | undefined)?.text;

test('a filter that gives its reason is quoted; one that gives none is named', async () => {
  const night = { tool: 'exec', why: 'it is night', rule: 'policy.night' };
  await using t = await bootTest([scene().tools, filter('night', without('exec', [night])), filter('mute', without('write'))]);
  const offer = await offerOf(t);
  expect(names(offer)).toEqual(['read']);
  expect(offer.removed).toEqual([night, { tool: 'write', why: 'removed by plugin "mute"', rule: 'mute' }]);
});

test('a filter cannot widen: what it adds, brings back or swaps is ignored and reported', async () => {
  const { tools, tool, done } = scene();
  const widens = filter('widens', (offer) => ({ tools: [tool('rm'), tool('write'), ...offer.tools], removed: [] }));
  await using t = await bootTest([tools, filter('narrows', without('exec')), widens, decider('yes', () => allow)]);
  const offer = await offerOf(t);
  expect(names(offer)).toEqual(['read', 'write']);
  expect(offer.removed).toMatchObject([{ tool: 'exec', rule: 'narrows' }]);
  expect(t.records).toMatchObject([{ error: { code: 'FILTER_WIDENED', facts: { plugin: 'widens' } } }]);
  await t.kernel.run((run) => run.callTool({ id: '1', name: 'write', args: {} }));
  expect(done).toEqual(['write']);
});

test('a filter that throws fails the offer: no tool is offered unfiltered', async () => {
  const broken = filter('broken', () => {
    throw new Error('no rules');
  });
  await using t = await bootTest([scene().tools, broken]);
  await expect(offerOf(t)).rejects.toMatchObject({ code: 'HOOK_FAILED', facts: { plugin: 'broken', hook: 'policy.filter' } });
});

const fails = () => {
  throw new Error('no clue');
};

test.each<[string, readonly (() => unknown)[], object | undefined]>([
  ['nobody', [], undefined],
  ['nobody has an answer', [() => undefined], undefined],
  ['one allows', [() => undefined, () => allow], allow],
  ['ask is stricter than allow', [() => ask, () => allow], ask],
  ['deny is stricter than ask', [() => ask, () => deny, () => ask], deny],
  ['of equals the first stands', [() => deny, () => ({ kind: 'deny', why: 'later' })], deny],
  ['a throw is a deny with its cause', [() => allow, fails], { kind: 'deny', why: 'plugin "d1" could not decide: no clue', rule: 'd1' }],
  ['nonsense is as strict as a deny', [() => ({ kind: 'sure' }), () => ask], { kind: 'sure' }],
])('policy.decide asks all, and the strictest answer stands: %s', async (_, answers, verdict) => {
  const asked: number[] = [];
  const deciders = answers.map((answer, i) => decider(`d${i}`, () => (asked.push(i), answer())));
  await using t = await bootTest(deciders);
  const request = { id: '1', tool: scene().tool('exec'), args: {} };
  expect(await t.kernel.run((run) => run.call(DecideTool, request))).toEqual(verdict);
  expect(asked).toEqual(answers.map((__, i) => i));
});

test('an aborted run is not denied but ended', async () => {
  const abort = new AbortController();
  const slow = decider('slow', () => {
    abort.abort(new Error('the client left'));
    throw new Error('cut off');
  });
  const { tools, done } = scene();
  await using t = await bootTest([tools, slow]);
  await expect(t.kernel.run(exec, { signal: abort.signal })).rejects.toThrow('the client left');
  expect(done).toEqual([]);
});

test.each<[string, readonly Plugin[], string | undefined]>([
  ['allowed', [decider('yes', () => allow)], undefined],
  ['denied', [decider('no', () => deny)], 'exec was denied: it is night'],
  ['judged by nobody', [], 'exec was denied: no policy plugin allowed it (switch on "policy")'],
  ['judged by nonsense', [decider('odd', () => ({ kind: 'sure' }))], 'exec was denied: undefined'],
  ['asked, and nobody is there to ask', [decider('asks', () => ask)], 'it writes; no plugin is there to ask a person'],
  ['asked and approved', [decider('asks', () => ask), says(true)], undefined],
  ['asked and refused', [decider('asks', () => ask), says(false, 'not today')], 'exec was denied: not today'],
  ['asked, and asking fails', [decider('asks', () => ask), asks('approvals', { ask: async () => fails() })], 'exec failed: no clue'],
])('a call that is %s', async (_, policy, refusal) => {
  const { tools, done } = scene();
  await using t = await bootTest([tools, ...policy]);
  const result = await t.kernel.run(exec);
  expect(done).toEqual(refusal ? [] : ['exec']);
  expect(result.isError ?? false).toBe(refusal !== undefined);
  if (refusal) expect(textOf(result)).toContain(refusal);
});

test('a tool that policy removed is refused with its reason', async () => {
  const night = { tool: 'exec', why: 'it is night', rule: 'policy.night' };
  await using t = await bootTest([scene().tools, filter('night', without('exec', [night])), decider('yes', () => allow)]);
  const result = await t.kernel.run(exec);
  expect(result).toMatchObject({ isError: true, details: { code: 'TOOL_DENIED', rule: 'policy.night' } });
  expect(textOf(result)).toBe('exec is not available here: it is night (policy.night)');
});

const yes = decider('policy', () => allow);
const night = { tool: 'exec', why: 'it is night', rule: 'policy.night' };

test.each<[string, Plugin, Plugin | undefined, string | undefined]>([
  ['a decider that denies now', yes, decider('policy', () => deny), 'exec was denied: it is night'],
  [
    'a filter that removes it now',
    yes,
    plugin('policy', (ctx) => (ctx.tap(FilterPolicy, without('exec', [night])), ctx.tap(DecideTool, () => allow))),
    'it is night',
  ],
  ['no policy at all now', yes, undefined, 'no policy plugin allowed it'],
  ['a decider that asks now, with nobody to ask', yes, decider('policy', () => ask), 'no plugin is there to ask a person'],
  ['a rule loosened now, for the run keeps its own', decider('policy', () => deny), yes, 'exec was denied: it is night'],
  ['nothing but another that allows', yes, yes, undefined],
])('code is pinned, authority is not: a run in flight is stopped by %s', async (_, before, after, refusal) => {
  const { tools, done } = scene();
  await using t = await bootTest([tools, before]);
  const result = await t.kernel.run(async (run) => {
    await t.apply(after ? [tools, entry(after, '2')] : [tools]);
    expect(run.generation).toBe(1);
    return exec(run);
  });
  expect(done).toEqual(refusal ? [] : ['exec']);
  if (refusal) expect(textOf(result)).toContain(refusal);
});

test('a tool whose plugin is gone can still be called by a run that was offered it', async () => {
  const { tools, done } = scene();
  await using t = await bootTest([tools, yes]);
  await t.kernel.run(async (run) => {
    await t.apply([yes]);
    await exec(run);
  });
  expect(done).toEqual(['exec']);
});

test('the person is asked through the generation that is current, once', async () => {
  const { tools, done } = scene();
  const seen: string[] = [];
  const approvals = (v: string) =>
    entry(
      asks('approvals', { ask: async (_, why, run) => (seen.push(`${v}: ${why} on ${run.generation}`), { allowed: true, why: '' }) }),
      v,
    );
  const both = decider('policy', () => ask);
  await using t = await bootTest([tools, both, approvals('old')]);
  await t.kernel.run(async (run) => {
    await t.apply([tools, both, approvals('new')]);
    await exec(run);
  });
  expect(seen).toEqual(['new: it writes on 2']);
  expect(done).toEqual(['exec']);
});

test('a rule that was tightened while a person thought about it binds the call they approved', async () => {
  const { tools, done } = scene();
  const thinks: Approver = {
    async ask() {
      await t.apply([tools, decider('policy', () => ask), asks('approvals', thinks), decider('night', () => deny)]);
      return { allowed: true, why: 'go' };
    },
  };
  await using t = await bootTest([tools, decider('policy', () => ask), asks('approvals', thinks)]);
  expect(textOf(await t.kernel.run(exec))).toContain('exec was denied: it is night');
  expect(done).toEqual([]);
});

const Turn = service<string>('test.turn');
const Door = service<string>('test.door');

test('the newest policy judges the same subject, with all services of the run and of what it derives from', async () => {
  const seen: unknown[] = [];
  const judge = plugin('policy', (ctx) =>
    ctx.tap(DecideTool, (_, run) => (seen.push([run.generation, run.subject, run.find(Turn), run.find(Door)]), allow)),
  );
  const { tools } = scene();
  await using t = await bootTest([tools, judge]);
  await t.kernel.run(
    async (run) => {
      await t.apply([tools, entry(judge, '2')]);
      await exec(run.as({ subject: { agent: 'child' }, values: [given(Turn, 'turn')] }));
    },
    { subject: { agent: 'main' }, values: [given(Door, 'door')] },
  );
  expect(seen).toEqual([1, 2].map((generation) => [generation, { agent: 'child' }, 'turn', 'door']));
});
