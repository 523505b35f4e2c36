import { expect, test } from 'vitest';
import {
  DecideTool,
  defineTool,
  FilterPolicy,
  PromptSections,
  RegisterTools,
  type Run,
  type Subject,
  text,
  type Tool,
} from '../../kernel/index.ts';
import { bootTest, plugin } from '../support/kernel.ts';

const policy = plugin('policy', (ctx) => ctx.tap(DecideTool, () => ({ kind: 'allow' })));
const offers = (...tools: readonly Tool[]) => plugin('tools', (ctx) => ctx.tap(RegisterTools, (all) => [...all, ...tools]));
const call = (run: Run, name: string, args: unknown = {}) => run.callTool({ id: '1', name, args });
const textOf = ({ content }: { readonly content: readonly unknown[] }) => (content[0] as { text: string }).text;

/** A tool that writes down its arguments. */
function scene() {
  const seen: unknown[] = [];
  const read = defineTool({
    name: 'read',
    description: '',
    parameters: {
      type: 'object',
      required: ['path'],
      additionalProperties: false,
      properties: { path: { type: 'string' }, lines: { type: 'integer', default: 100 } },
    },
    execute: (args) => (seen.push(args), text('done')),
  });
  return { seen, read };
}

test.each([
  ['raed', 'TOOL_UNKNOWN', 'there is no tool "raed"; did you mean "read"?'],
  ['browser', 'TOOL_UNKNOWN', 'there is no tool "browser"'],
])('a tool that is not offered is refused, with the nearest one that is: %s', async (name, code, message) => {
  await using t = await bootTest([offers(scene().read), policy]);
  const result = await t.kernel.run((run) => call(run, name));
  expect(result).toMatchObject({ isError: true, details: { code } });
  expect(textOf(result)).toBe(message);
});

test.each<[unknown, string]>([
  [undefined, '"path" is missing'],
  ['README.md', 'must be object; it is "README.md"'],
  [{ path: 1 }, 'path: must be string; it is 1'],
  [{ pth: 'a' }, 'pth: unknown key "pth" (did you mean "path"?)'],
  [{ path: 'a', lines: 'all' }, 'lines: must be integer; it is "all"'],
])('wrong arguments are told so that the model can correct them: %j', async (args, message) => {
  const { read, seen } = scene();
  await using t = await bootTest([offers(read), policy]);
  const result = await t.kernel.run((run) => call(run, 'read', args));
  expect(result).toMatchObject({ isError: true, details: { code: 'TOOL_ARGUMENTS' } });
  expect(textOf(result)).toMatch(/^wrong arguments for read: .*Call it again with the arguments corrected\.$/);
  expect(textOf(result)).toContain(message);
  expect(seen).toEqual([]);
});

test('the tool and who judges it get the arguments with the defaults filled in; the model’s own stay as they were', async () => {
  const { read, seen } = scene();
  const judged: unknown[] = [];
  const judge = plugin('judge', (ctx) => ctx.tap(DecideTool, ({ args }) => (judged.push(args), undefined)));
  await using t = await bootTest([offers(read), policy, judge]);
  const args = Object.freeze({ path: 'a' });
  await t.kernel.run((run) => call(run, 'read', args));
  const whole = { path: 'a', lines: 100 };
  expect([...judged, ...seen]).toEqual([whole, whole]);
});

test('what a tool returns passes through, and its updates with it', async () => {
  const result = { content: [{ type: 'text', text: 'a' }], details: { pid: 1 } } as const;
  const slow: Tool = { name: 'slow', description: '', parameters: {}, execute: (_, it) => (it.update(text('half')), result) };
  await using t = await bootTest([offers(slow), policy]);
  const updates: unknown[] = [];
  const request = { id: '1', name: 'slow', args: {}, onUpdate: (partial: unknown) => updates.push(partial) };
  expect(await t.kernel.run((run) => run.callTool(request))).toBe(result);
  expect(updates).toEqual([text('half')]);
});

test('a tool that throws gives a result that says so', async () => {
  const bad: Tool = { name: 'bad', description: '', parameters: {}, execute: () => Promise.reject(new Error('disk full')) };
  await using t = await bootTest([offers(bad), policy]);
  const result = await t.kernel.run((run) => call(run, 'bad'));
  expect(result).toEqual({ ...text('bad failed: disk full'), details: { code: 'TOOL_FAILED' }, isError: true });
});

test('a tool whose schema no validator takes gives a result that says so', async () => {
  const odd: Tool = { name: 'odd', description: '', parameters: { type: 'objekt' }, execute: () => text('') };
  await using t = await bootTest([offers(odd), policy]);
  expect(await t.kernel.run((run) => call(run, 'odd'))).toMatchObject({ isError: true, details: { code: 'TOOL_FAILED' } });
});

test('an abort while the tool works ends the call with the reason of the abort', async () => {
  const abort = new AbortController();
  const hang: Tool = {
    name: 'hang',
    description: '',
    parameters: {},
    execute: (_, { signal }) =>
      new Promise((__, reject) => {
        signal.addEventListener('abort', () => reject(new Error('killed')));
        abort.abort(new Error('the client left'));
      }),
  };
  await using t = await bootTest([offers(hang), policy]);
  await expect(t.kernel.run((run) => call(run, 'hang'), { signal: abort.signal })).rejects.toThrow('the client left');
});

test('of two tools of one name the first registered stays', async () => {
  const named = (said: string): Tool => ({ name: 'same', description: said, parameters: {}, execute: () => text(said) });
  const second = plugin('second', (ctx) => ctx.tap(RegisterTools, (all) => [...all, named('second')]));
  await using t = await bootTest([offers(named('first')), second, policy]);
  expect((await t.kernel.run((run) => run.tools())).tools.map(({ description }) => description)).toEqual(['first']);
  expect(await t.kernel.run((run) => call(run, 'same'))).toEqual(text('first'));
});

/** A plugin that counts how often it is asked for what is kept, and can change its version or fail. */
function counting() {
  const state = { asked: [] as string[], version: 1, fails: false };
  const count = (what: string, { agent = '' }: Subject) => {
    state.asked.push(`${what} ${agent}`);
    if (state.fails) throw new Error('not now');
  };
  const counter = plugin('counter', (ctx) => {
    const version = () => state.version;
    ctx.tap(RegisterTools, (all, run) => (count('register', run.subject), all), { version });
    ctx.tap(FilterPolicy, (offer, run) => (count('filter', run.subject), offer));
    ctx.tap(PromptSections, (all, run) => (count('prompt', run.subject), all), { version: ({ agent }) => `${agent} ${state.version}` });
  });
  const ask = async (run: Run) => [await run.tools(), await run.sections()];
  const once = (agent: string) => [`register ${agent}`, `filter ${agent}`, `prompt ${agent}`];
  return { state, counter, ask, once, take: () => state.asked.splice(0) };
}
const main = { subject: { agent: 'main', depth: 0 } };

test('tools and prompt are computed once per subject, whatever run asks, and again for a new version', async () => {
  const { state, counter, ask, once, take } = counting();
  await using t = await bootTest([counter]);
  for (let i = 0; i < 3; i++) await t.kernel.run(ask, main);
  await t.kernel.run(ask, { subject: { depth: 0, agent: 'main' } });
  expect(take()).toEqual(once('main'));
  await t.kernel.run((run) => ask(run.as({ subject: { agent: 'child' } })), main);
  expect(take()).toEqual(once('child'));
  state.version++;
  await t.kernel.run(ask, main);
  await t.kernel.run(ask, main);
  expect(take()).toEqual(once('main'));
});

test('what is kept belongs to its generation', async () => {
  const { counter, ask, once, take } = counting();
  await using t = await bootTest([counter]);
  await t.kernel.run(async (run) => {
    await ask(run);
    await t.apply([counter, policy]);
    await ask(run);
    expect(take()).toEqual(once(''));
  });
  await t.kernel.run(ask);
  expect(take()).toEqual(once(''));
});

test('runs that ask at once wait for one computation; one that fails is not kept', async () => {
  const { state, counter, take } = counting();
  await using t = await bootTest([counter]);
  const tools = () => t.kernel.run((run) => run.tools());
  await Promise.all([tools(), tools()]);
  expect(take()).toEqual(['register ', 'filter ']);
  Object.assign(state, { version: 2, fails: true });
  await expect(tools()).rejects.toMatchObject({ code: 'HOOK_FAILED' });
  state.fails = false;
  await tools();
  await tools();
  expect(take()).toEqual(['register ', 'register ', 'filter ']);
});

test('a run is not failed by the abort of another one that was computing for both', async () => {
  const started = Promise.withResolvers<void>();
  let isFirst = true;
  const slow = plugin('slow', (ctx) =>
    ctx.tap(RegisterTools, (all, { signal }) => {
      if (!isFirst) return all;
      isFirst = false;
      started.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    }),
  );
  await using t = await bootTest([slow]);
  const abort = new AbortController();
  const first = t.kernel.run((run) => run.tools(), { signal: abort.signal });
  await started.promise;
  const second = t.kernel.run((run) => run.tools());
  abort.abort(new Error('the client left'));
  await expect(first).rejects.toThrow('the client left');
  expect(await second).toEqual({ tools: [], removed: [] });
});
