/** The floor: a bare HTTP server that asks the same model the same way, streams its bytes and answers. */
import { Agent, createServer, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const [port, model] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const delay = monitorEventLoopDelay({ resolution: 20 });
delay.enable();

createServer((incoming, response) => {
  if (incoming.method === 'GET') {
    response.end(incoming.url === '/delay' ? String(Math.max(0, delay.percentile(99) / 1e6 - 20)) : 'ok');
    return;
  }
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', () => {
    const body = JSON.stringify({ ...JSON.parse(Buffer.concat(chunks).toString()), stream: true });
    const headers = { 'content-type': 'application/json' };
    const upstream = request(`${model}/v1/chat/completions`, { method: 'POST', agent, headers }, (stream) => {
      let text = '';
      let rest = '';
      stream.setEncoding('utf8');
      stream.on('data', (data) => {
        const frames = (rest + data).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) if (frame !== 'data: [DONE]') text += JSON.parse(frame.slice(6)).choices[0]?.delta?.content ?? '';
      });
      stream.on('end', () => response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: text } }] })));
    });
    upstream.end(body);
  });
}).listen(Number(port), '127.0.0.1');
