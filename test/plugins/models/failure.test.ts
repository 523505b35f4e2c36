import { expect, test } from 'vitest';
import type { AttemptFailure, Model } from '../../../plugins/models/contract.ts';
import { explain } from '../../../plugins/models/failure.ts';

const model: Model = {
  provider: 'p',
  id: 'm',
  name: 'm',
  api: 'x',
  baseUrl: 'https://api.example.com/v1',
  contextWindow: 1,
  maxTokens: 1,
  input: ['text'],
  reasoning: false,
};
const advice = { url: 'models.providers.p.baseUrl', key: 'models.providers.p.apiKey' };
const told = (failure: Partial<AttemptFailure>) =>
  explain(model, { code: 'MODEL_HTTP', message: 'raw', ...failure }, advice, undefined).message;
const refused = (code: string) =>
  told({ code: 'MODEL_UNREACHABLE', cause: new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) }) });

test.each([
  ['ECONNREFUSED', 'api.example.com:443 refused the connection'],
  ['ENOTFOUND', 'api.example.com:443 is a name that DNS does not know'],
  ['ETIMEDOUT', 'api.example.com:443 did not answer in time'],
  ['ECONNRESET', 'api.example.com:443 closed the connection'],
  ['CERT_HAS_EXPIRED', 'no secure connection to api.example.com:443 (TLS: CERT_HAS_EXPIRED)'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'no secure connection to api.example.com:443 (TLS: UNABLE_TO_VERIFY_LEAF_SIGNATURE)'],
  ['EWHATEVER', 'api.example.com:443 failed (raw)'],
])('%s: host, port and reason are named', (code, words) => {
  expect(refused(code)).toBe(`p/m is not reachable: ${words}; check that the server runs and models.providers.p.baseUrl`);
});

test.each<[string, Partial<AttemptFailure>, string]>([
  ['OpenAI’s body', { status: 400, body: '{"error":{"message":"bad"}}' }, 'p/m did not accept the request (HTTP 400: bad)'],
  ['a body with a text', { status: 400, body: '{"error":"bad"}' }, 'p/m did not accept the request (HTTP 400: bad)'],
  ['FastAPI’s body', { status: 422, body: '{"detail":"bad"}' }, 'p/m did not accept the request (HTTP 422: bad)'],
  ['a list', { status: 400, body: '[{"error":{"message":"bad"}}]' }, 'p/m did not accept the request (HTTP 400: bad)'],
  [
    'a page',
    { status: 502, message: 'HTTP 502', body: '<html>…' },
    'p/m has trouble (HTTP 502: HTTP 502); try again, or choose another model',
  ],
  [
    'line breaks and escapes',
    { status: 400, body: '{"error":"a\\nb\\u001b[31mc"}' },
    'p/m did not accept the request (HTTP 400: a b [31mc)',
  ],
  ['no money', { status: 402, body: '{"error":"none"}' }, "p/m wants payment (HTTP 402: none); check the account's balance"],
  ['a redirect', { status: 301, message: 'moved' }, 'p/m answered with a redirect (HTTP 301: moved); check models.providers.p.baseUrl'],
  ['a filter', { code: 'MODEL_REFUSED' }, 'p/m refused: raw; put the request differently, or choose another model'],
])('%s becomes one line', (_, failure, line) => {
  expect(told(failure)).toBe(line);
});

test.each<[Record<string, string>, number | undefined]>([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after-ms': '', 'retry-after': '60' }, 60_000],
  [{ 'retry-after-ms': 'Infinity', 'retry-after': ' 60 ' }, 60_000],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': new Date(0).toUTCString() }, 0],
  [{}, undefined],
])('when to come back is read from %o', (headers, expected) => {
  expect(explain(model, { code: 'MODEL_HTTP', message: '', status: 429, headers }, advice, undefined).retryAfterMs).toBe(expected);
});
