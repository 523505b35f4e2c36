import { expect, test } from 'vitest';
import { type Run, text, type ToolCall } from '../../../kernel/index.ts';
import { offeredOf, type Server } from '../../../plugins/mcp/tools.ts';

test('a call has the timeout of its generation, though the connection and its list outlive a reload', async () => {
  const timeouts: number[] = [];
  const call = async (_tool: string, _args: object, { timeoutMs }: { readonly timeoutMs: number }) => {
    timeouts.push(timeoutMs);
    return { content: [] };
  };
  const connection = { tools: [{ name: 'look', inputSchema: { type: 'object' } }], call };
  const context = { signal: new AbortController().signal, run: { find: () => undefined } as unknown as Run, update: () => text('') };
  for (const timeoutSeconds of [60, 600]) {
    const server = { name: 'crm', settings: { timeoutSeconds }, connection } as unknown as Server;
    await offeredOf(server).tools[0]?.tool.execute({} as never, context as unknown as ToolCall);
    expect(offeredOf(server)).toBe(offeredOf(server));
  }
  expect(timeouts).toEqual([60_000, 600_000]);
});
