import { expect, test } from 'vitest';
import type { ToolResult } from '../../../kernel/index.ts';
import { calling, product, tool } from './product.ts';

const ok = [{ type: 'text', text: 'ok' }] as const;
const circle: Record<string, unknown> = {};
circle.me = circle;
const throwing = (name: string) => ({
  get [name](): unknown {
    throw new Error(`no ${name}`);
  },
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'nothing'],
  ['null', null, 'null'],
  ['a string', 'done', 'a string'],
  ['a list', [], 'a content that is nothing'],
  ['a content that is a string', { content: 'done' }, 'a content that is a string'],
  ['a part that is null', { content: [null] }, 'a content[0]'],
  ['a content with a hole', { content: Object.assign(Array(2), { 1: ok[0] }) }, 'a content[0]'],
  ['a content that throws', throwing('content'), 'what cannot be read (no content)'],
  ['details that throw', { content: ok, details: throwing('size') }, 'details that JSON cannot hold (no size)'],
  ['a text without text', { content: [...ok, { type: 'text' }] }, 'a content[1]'],
  ['a part of an unknown kind', { content: [{ type: 'video', data: 'x' }] }, 'a content[0]'],
  ['details with a bigint', { content: ok, details: { size: 5n } }, 'details that JSON cannot hold'],
  ['details that go round', { content: ok, details: circle }, 'details that JSON cannot hold'],
])('a tool that returns %s has failed, and the turn goes on', async (_, returned, why) => {
  const tools = [tool('odd', () => returned as ToolResult)];
  await using p = await product([calling('odd'), 'went on'], { tools });
  expect((await p.channel.ask('go')).payloads).toEqual([{ text: 'went on' }]);
  const result = (await p.messages()).find(({ role }) => role === 'toolResult');
  expect(result).toMatchObject({ isError: true, details: { code: 'TOOL_FAILED' } });
  expect(JSON.stringify(result?.content)).toContain(`odd failed: it returned ${why}`);
  expect(() => JSON.stringify(p.events)).not.toThrow();
});

test('what of a result is no part of it is left out, and details are as JSON holds them', async () => {
  const returned = { content: [{ ...ok[0], size: 5n }], details: { at: new Date(0), none: undefined }, isError: 0, more: 1n };
  await using p = await product([calling('odd'), 'went on'], { tools: [tool('odd', () => returned as unknown as ToolResult)] });
  await p.channel.ask('go');
  const end = p.events.find(({ type }) => type === 'tool_execution_end');
  expect(end?.data.result).toEqual({ content: ok, details: { at: '1970-01-01T00:00:00.000Z' }, isError: false });
});

test('partial output that is none is not shown; what is sound of it is, and the tool does its work', async () => {
  const odd = tool('odd', (_args, call) => {
    call.update({ content: ok, details: 1n });
    call.update({ content: [{ type: 'text', text: 'half' }] });
    call.update('text' as unknown as ToolResult);
    return { content: ok };
  });
  await using p = await product([calling('odd'), 'went on'], { tools: [odd] });
  expect((await p.channel.ask('go')).payloads).toEqual([{ text: 'went on' }]);
  const partials = p.events.filter(({ type }) => type === 'tool_execution_update').map(({ data }) => data.partial);
  expect(partials).toEqual([{ content: [{ type: 'text', text: 'half' }] }]);
  const told = p.t.records.filter(({ message }) => message.includes('partial output of tool "odd" is not shown'));
  expect(told).toHaveLength(1);
});
