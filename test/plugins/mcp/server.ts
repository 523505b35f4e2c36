import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** An MCP server for tests, on stdio. `MCP_TEST_LOG` is told of what happens to it. */
const log = (line: string) => process.env['MCP_TEST_LOG'] && appendFileSync(process.env['MCP_TEST_LOG'], `${line}\n`);
log(`start ${process.pid}`);
console.log('Welcome to the test server'); // as careless servers do
console.error('words on stderr');

const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } } });
const object = (properties: object = {}) => ({ type: 'object' as const, properties });
const tool = (name: string, inputSchema: object = object()) => ({
  name,
  description: `Does ${name}`,
  inputSchema: inputSchema as { type: 'object' },
});
let tools = [
  tool('echo', { ...object({ text: { type: 'string' } }), required: ['text'], $schema: 'https://json-schema.org/draft/2020-12/schema' }),
  tool('env'),
  tool('grow'),
  tool('slow'),
  tool('huge'),
  tool('fail'),
  tool('crash'),
  tool('with.dots and blanks'),
  tool('bad schema', { type: 'object', properties: { a: { type: 'strnig' } } }),
];

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {}, _meta } }, { signal, sendNotification }) => {
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  if (name === 'echo') return text(String(args['text']));
  if (name === 'env') return text(JSON.stringify(process.env));
  if (name === 'huge') return text('x'.repeat(120_000));
  if (name === 'fail') return { ...text('it went wrong'), isError: true };
  if (name === 'crash') process.exit(3);
  if (name === 'grow') {
    tools = [...tools, tool('grown')];
    await server.sendToolListChanged();
    return text('grown');
  }
  if (name === 'slow') {
    await sendNotification({
      method: 'notifications/progress',
      params: { progressToken: _meta?.progressToken ?? 0, progress: 1, total: 2, message: 'half way' },
    });
    await new Promise((done) => signal.addEventListener('abort', done));
    log('cancelled');
  }
  return text(name);
});
await server.connect(new StdioServerTransport());
