import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../kernel/index.ts';
import { refusal } from './contract.ts';

/** Told by its length, before a byte of it is read. */
export function checkLength(request: IncomingMessage, limit: number) {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

export async function readJson(request: IncomingMessage, response: ServerResponse, limit: number): Promise<unknown> {
  const encoding = request.headers['content-encoding'];
  if (encoding && encoding !== 'identity') throw refusal(415, 'HTTP_BODY', `content-encoding "${encoding}" is not taken; send plain JSON`);
  if (request.headers.expect) response.writeContinue(); // only now: the client was checked
  const text = await readText(request, limit);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusal(400, 'HTTP_BODY', `the body is not JSON: ${messageOf(error)}`);
  }
}

function readText(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limit) chunks.push(chunk);
      else reject(tooLarge(limit)); // what still comes is read and thrown away, within the request timeout
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString()));
    request.once('close', () => request.complete || reject(refusal(400, 'HTTP_BODY', 'the body was cut off')));
    request.once('error', reject);
  });
}

const tooLarge = (limit: number) => refusal(413, 'HTTP_BODY', `the body is larger than the ${limit} bytes that are taken here`);
