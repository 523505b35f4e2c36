import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Subject } from '../../../kernel/index.ts';
import { catalogTools } from '../../../plugins/policy/groups.ts';
import { layers, refusalOf } from '../../../plugins/policy/layers.ts';
import { names } from '../../../plugins/policy/patterns.ts';
import type { Placed, Ruling, Standing, ToolConfig, ToolRules } from '../../../plugins/policy/rules.ts';

const tools = [...catalogTools, 'pdf', 'whatsapp_login', 'crm__find', 'own_tool'];
const pattern = fc.oneof(
  fc.constantFrom(...tools),
  fc.constantFrom('*', 'sessions_*', '*_*', 'group:fs', 'group:web', 'group:sessions', 'group:openclaw', 'group:plugins', 'nobody'),
);
const list = fc.option(fc.array(pattern, { maxLength: 5 }), { nil: undefined });
const lists = fc.record({ allow: list, deny: list });
const rules: fc.Arbitrary<ToolRules> = fc.record({
  profile: fc.option(fc.constantFrom('minimal', 'coding', 'messaging', 'full'), { nil: undefined }),
  alsoAllow: list,
  allow: list,
  deny: list,
});
const byProvider = fc.option(fc.record({ p: lists, 'p/m': lists }), { nil: undefined });
const confined = fc.option(fc.record({ tools: lists }), { nil: undefined });
const config: fc.Arbitrary<ToolConfig> = fc
  .tuple(rules, byProvider, confined, confined)
  .map(([own, provider, sandbox, subagents]) => ({ ...own, byProvider: provider, sandbox, subagents }));
const subject: fc.Arbitrary<Subject> = fc.record({
  agent: fc.constant('a'),
  channel: fc.constantFrom('chat', 'voice', 'node'),
  provider: fc.constant('p'),
  model: fc.constant('m'),
  sender: fc.constantFrom('owner', 'known', 'unknown', 'internal'),
  group: fc.constant('g'),
  session: fc.constantFrom('main', 'direct', 'group', 'subagent'),
  depth: fc.nat(3),
  sandboxed: fc.boolean(),
});

interface Whole {
  readonly global: ToolConfig;
  readonly agent: ToolConfig | undefined;
  readonly group: ToolRules | undefined;
  readonly depth: number;
}
const whole: fc.Arbitrary<Whole> = fc.record({
  global: config,
  agent: fc.option(config, { nil: undefined }),
  group: fc.option(lists, { nil: undefined }),
  depth: fc.integer({ min: 1, max: 3 }),
});

const at = <R>(path: string, given: R | undefined): Placed<R> | undefined => (given === undefined ? undefined : { path, rules: given });
const ruling = ({ global, agent, depth }: Whole): Ruling => ({
  tools: { path: 'tools', rules: global },
  agent: () => at('agents.list[0].tools', agent),
  maxSpawnDepth: () => ({ depth, path: 'd' }),
});
const standing = (all: Whole, of: Subject, native?: Standing['native']): Standing => ({
  subject: of,
  ruling: ruling(all),
  native,
  group: at('group', all.group),
});
const passing = (one: Standing) => tools.filter((name) => !refusalOf({ name }, one));
const isWithin = (inner: readonly string[], outer: readonly string[]) => expect(outer).toEqual(expect.arrayContaining([...inner]));

test('SPEC 3: any further layer never adds a tool', () => {
  fc.assert(
    fc.property(whole, subject, fc.subarray([...layers]), (all, of, some) => {
      const one = standing(all, of, { why: 'it searches itself' });
      isWithin(
        passing(one),
        tools.filter((name) => some.every((layer) => !layer.judge({ name }, one))),
      );
    }),
  );
});

test('SPEC 3.4: any further place with lists never adds a tool', () => {
  const without = (given: ToolConfig | undefined): ToolConfig | undefined =>
    given && { ...given, profile: undefined, alsoAllow: undefined };
  fc.assert(
    fc.property(whole, subject, (all, of) => {
      const narrowed = passing(standing({ ...all, agent: without(all.agent) }, of));
      isWithin(narrowed, passing(standing({ ...all, agent: undefined }, of)));
      isWithin(narrowed, passing(standing({ ...all, agent: without(all.agent), group: undefined }, of)));
      isWithin(narrowed, passing(standing({ ...all, global: { ...all.global, byProvider: undefined }, agent: without(all.agent) }, of)));
    }),
  );
});

test('SPEC 3.4: deny always wins, wherever it is written', () => {
  fc.assert(
    fc.property(whole, subject, (all, of) => {
      const { global, agent, group } = all;
      const everywhere = [global, agent, ...[global, agent].flatMap((one) => Object.values(one?.byProvider ?? {})), group];
      const boxed = of.sandboxed ? [global.sandbox?.tools, agent?.sandbox?.tools] : [];
      const below = of.session === 'subagent' || (of.depth ?? 0) > 0 ? [global.subagents?.tools] : [];
      const denied = [...everywhere, ...boxed, ...below].flatMap((one) => one?.deny ?? []);
      for (const tool of passing(standing(all, of))) expect(denied.filter((one) => names(one, tool))).toEqual([]);
    }),
  );
});

test('SPEC 3.5: a child has no tool that its parent has not, and a sandboxed session none that others have not', () => {
  fc.assert(
    fc.property(whole, subject, (all, of) => {
      const parent: Subject = { ...of, session: 'direct', depth: 0 };
      isWithin(passing(standing(all, { ...of, session: 'subagent', depth: 1 })), passing(standing(all, parent)));
      isWithin(passing(standing(all, { ...of, sandboxed: true })), passing(standing(all, { ...of, sandboxed: false })));
    }),
  );
});

test('a pattern with wildcards fits as a regular expression would, without going back and forth in the text', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '_', '*'), maxLength: 12 });
  fc.assert(
    fc.property(word, fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 14 }), (written, tool) => {
      fc.pre(written !== '');
      expect(names(written, tool)).toBe(new RegExp(`^${written.replaceAll('*', '.*')}$`).test(tool));
    }),
  );
  expect(names(`${'*a'.repeat(200)}b`, 'a'.repeat(5000))).toBe(false); // backtracking would take longer than anyone lives
});
