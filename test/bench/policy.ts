/** `node test/bench/policy.ts`: what it costs to filter 300 tools for a turn, the first time in a generation and each time after. */
import { definePlugin, GenerationSwapped, RegisterTools, type Subject, text } from '../../kernel/index.ts';
import agents from '../../plugins/agents/index.ts';
import policy from '../../plugins/policy/index.ts';
import { testKernel } from '../../plugins/testing/kit.ts';
import { spread } from './process.ts';

const count = 300;
/** Settles when all listeners of the swap are done: they would run beside what is measured. */
let told = Promise.withResolvers<void>();
const tools = definePlugin({
  name: 'many-tools',
  description: `${count} tools`,
  setup(ctx) {
    const made = Array.from({ length: count }, (_, i) => ({
      name: `server${i % 10}__tool_${i}`,
      description: 'a tool',
      parameters: { type: 'object' },
      execute: () => text('ran'),
    }));
    ctx.tap(RegisterTools, (all) => [...all, ...made]);
    ctx.tap(GenerationSwapped, () => told.resolve(), 100);
  },
});
/** Rules at every place, most of which fit nothing: the dearest case. */
const list = (from: string) => Array.from({ length: 10 }, (_, i) => `${from}${i}*_x*`);
const rules = { deny: [...list('a'), 'exec', 'group:fs'], byProvider: { p: { deny: list('b') }, 'p/m': { deny: list('c') } } };
const config = {
  tools: { ...rules, allow: ['group:plugins'], sandbox: { tools: { deny: list('d') } }, subagents: { tools: { deny: list('e') } } },
  agents: { list: [{ id: 'a', tools: { ...rules, profile: 'coding', alsoAllow: ['server*'] } }] },
};
const subject: Subject = {
  agent: 'a',
  channel: 'chat',
  provider: 'p',
  model: 'm',
  sender: 'unknown',
  session: 'subagent',
  depth: 1,
  sandboxed: true,
};

await using at = await testKernel({ plugins: [agents, tools, policy], config });
await told.promise;
const first: number[] = [];
for (let round = 0; round < 40; round++) {
  told = Promise.withResolvers();
  await at.reload('policy'); // nothing is kept from the generation before
  await told.promise;
  await at.kernel.run(
    async (run) => {
      const began = performance.now();
      const { tools: left } = await run.tools();
      first.push(performance.now() - began);
      if (left.length !== count) throw new Error(`${left.length} tools are left`);
    },
    { subject },
  );
}
const kept: number[] = [];
await at.kernel.run(
  async (run) => {
    for (let round = 0; round < 200; round++) {
      const began = performance.now();
      for (let i = 0; i < 50; i++) await run.tools();
      kept.push(((performance.now() - began) / 50) * 1000);
    }
  },
  { subject },
);
const [dear, cheap] = [spread(first), spread(kept)];
const row = (what: string, value: number, unit: string, bar: number) =>
  `| ${what} | ${value.toFixed(1)} ${unit} | ≤ ${bar} ${unit} | ${value <= bar ? 'yes' : '**no**'} |`;
console.log(`| Policy of ${count} tools, rules at every place (median) | | Bar | Met |
|---|--:|--:|---|
${row('the first turn of a Subject in a generation', dear.median, 'ms', 5)}
${row('every further turn', cheap.median, 'µs', 20)}
`);
