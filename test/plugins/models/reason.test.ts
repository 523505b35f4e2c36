import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AttemptFailure, FailureReason } from '../../../plugins/models/contract.ts';
import { reasonOf } from '../../../plugins/models/reason.ts';

/** A line of error-answers/<provider>.jsonl: an answer in a shape that the provider documents and sends, and what it means. */
interface Answer {
  readonly status: number;
  readonly body: object | string;
  /** A reason; with ` of this model`, one that the provider's other models do not share. */
  readonly means: string;
}

const providers = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  azure: 'https://me.openai.azure.com/openai/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  groq: 'https://api.groq.com/openai/v1',
  mistral: 'https://api.mistral.ai/v1',
  deepseek: 'https://api.deepseek.com',
  xai: 'https://api.x.ai/v1',
  ollama: 'http://127.0.0.1:11434/v1',
  llamacpp: 'http://127.0.0.1:8080/v1',
  vllm: 'http://127.0.0.1:8000/v1',
  litellm: 'http://127.0.0.1:4000',
  other: 'https://models.example/v1',
};

describe.for(Object.entries(providers))('SPEC 7.3: what an error of %s means', ([provider, baseUrl]) => {
  test.for(answersOf(provider))('$status $body → $means', ({ status, body, means }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { reason, perModel } = reasonOf({ provider, baseUrl }, { code: 'MODEL_HTTP', message: `HTTP ${status}`, status, body: text });
    expect(perModel ? `${reason} of this model` : reason).toBe(means);
  });
});

function answersOf(provider: string): readonly Answer[] {
  const text = readFileSync(join(import.meta.dirname, 'error-answers', `${provider}.jsonl`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}

const anywhere = { provider: 'mine', baseUrl: 'https://models.example/v1' };

test.for<[Partial<AttemptFailure>, FailureReason | undefined]>([
  [{ code: 'MODEL_ABORTED' }, undefined],
  [{ code: 'MODEL_TIMEOUT' }, 'timeout'],
  [{ code: 'MODEL_UNREACHABLE' }, 'timeout'],
  [{ code: 'MODEL_STREAM_CUT' }, 'timeout'],
  [{ code: 'MODEL_NO_KEY' }, 'auth'],
  [{ code: 'MODEL_REFUSED' }, 'format'],
  [{ code: 'ADAPTER_MISSING' }, 'model_not_found'],
  [{ code: 'ADAPTER_FAILED' }, 'unknown'],
  [{ code: 'MODEL_BAD_REPLY' }, 'unknown'],
  [{ status: 418, body: 'I am a teapot' }, 'unknown'],
  [{ status: 409, body: '{"error":{"message":"odd","type":"odd","code":17}}' }, 'unknown'],
  [{ status: 502, body: '<html>Bad Gateway</html>' }, 'overloaded'],
  [{ status: 429, body: '' }, 'rate_limit'],
  [{ status: 400, headers: { 'x-amzn-errortype': 'ThrottlingException:http://internal' }, body: '{"message":"slow"}' }, 'rate_limit'],
])('SPEC 7.3: %j is %s; what no row knows stays unknown, and a stop is nobody’s failure', ([failure, reason]) => {
  expect(reasonOf(anywhere, { code: 'MODEL_HTTP', message: 'x', ...failure }).reason).toBe(reason);
});

test('a provider is known by its address, whatever the config calls it', () => {
  const body = JSON.stringify({ error: 'Your team x has either used all available credits' });
  expect(reasonOf({ provider: 'elon', baseUrl: 'https://api.x.ai/v1' }, { code: 'MODEL_HTTP', message: '', status: 429, body })).toEqual({
    reason: 'billing',
  });
});
