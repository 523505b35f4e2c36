import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import fetchPlugin from '../../../plugins/fetch/index.ts';
import toolsWeb from '../../../plugins/tools-web/index.ts';
import { openPageReader } from '../../../plugins/tools-web/page.ts';
import { allowAll, textOf, toolbench, type Toolbench } from '../../support/toolbench.ts';
import { type Page, site } from './site.ts';

const boot = (fetch: object = {}, options = {}) =>
  toolbench([fetchPlugin, toolsWeb, allowAll], { fetch: { allowPrivate: ['127.0.0.1'] }, tools: { web: { fetch } } }, options);

/** With the usual settings: the thread that reads pages is begun once. */
let usual: Toolbench;
beforeAll(async () => void (usual = await boot()));
afterAll(() => usual[Symbol.asyncDispose]());
afterEach(() => void vi.useRealTimers());

async function fetched(page: Page, args: object = {}, bench = usual) {
  await using web = await site(() => page);
  const result = await bench.call('web_fetch', { url: `${web.url}/d/page`, ...args });
  return { said: textOf(result).replaceAll(web.host, 'HOST'), isError: result.isError, result };
}

const words = 'Some sentences of an article, with commas, that are long enough to be taken for what a reader came for, and not for a menu.';
const article = `<!doctype html><html><head><title>The &amp; title</title><style>x{}</style></head><body>
<nav><a href="/menu">Menu entry</a></nav><article><h1>The head</h1>${`<p>${words} <a href="/next?x=1">a link</a></p>`.repeat(5)}
<pre><code class="language-js">const a = 1;
  b();</code></pre><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><img src="p.png" alt="A picture"><img src="x.png">
</article><script>alert('never')</script><footer>Copyright</footer></body></html>`;

test('SPEC 2.1: web_fetch gives an article as Markdown, with whole links and without what surrounds it', async () => {
  const { said } = await fetched({ type: 'text/html; charset=utf-8', body: article });
  expect(said).toMatch(/^http:\/\/HOST\/d\/page \(HTTP 200, text\/html\)\n<<<UNTRUSTED_CONTENT [0-9a-f]{16} from "HOST">>>\n/);
  expect(said).toContain('# The & title');
  expect(said).toContain('[a link](http://HOST/next?x=1)');
  expect(said).toContain('```js\nconst a = 1;\n  b();\n```');
  expect(said).toMatch(/\| A +\| B +\|\n\| -+ \| -+ \|\n\| 1 +\| 2 +\|/);
  expect(said).toContain('![A picture](http://HOST/d/p.png)');
  expect(said).not.toMatch(/Menu entry|alert|Copyright|x\.png/);
});

const shown: readonly (readonly [what: string, page: Page, args: object, said: RegExp])[] = [
  ['plain words where they are asked for', { body: article }, { extractMode: 'text' }, /The head\n\n?Some sentences[^]*a link\n(?!.*\]\()/],
  ['a fragment', { body: '<p>one <b>two</b>' }, {}, /\none \*\*two\*\*\n/],
  [
    'a page of links, which is no article',
    { body: '<title>T</title><ul><li><a href="/a">A</a><li><a href="/b">B</a></ul>' },
    {},
    /\[A\]\(http:\/\/HOST\/a\)/,
  ],
  ['JSON, indented', { type: 'application/json', body: '{"a":[1,{"b":2}]}' }, {}, /\{\n "a": \[\n/],
  ['JSON that is none', { type: 'application/json', body: '{"a":' }, {}, /\n\{"a":\n/],
  ['plain text', { type: 'text/plain', body: 'just  text' }, {}, /\njust  text\n/],
  ['a page without a type', { type: '', body: '<!doctype html><title>T</title><p>words' }, {}, /\n# T\n\nwords\n/],
  ['a page without words', { body: '<html><body><script>x()</script></body></html>' }, {}, /\[the page has no text\]$/],
  ['an unknown charset', { type: 'text/plain; charset=klingon', body: 'hé' }, {}, /\nhé\n/],
  ['Latin-1', { type: 'text/plain; charset=iso-8859-1', body: Buffer.from([0x68, 0xe9]) }, {}, /\nhé\n/],
  ['links that lead nowhere without them', { body: '<p>x <a href="javascript:alert(1)">bad</a> y' }, {}, /x bad y/],
];
test.each(shown)('web_fetch shows %s', async (_, page, args, expected) => {
  const { said, isError } = await fetched(page, args);
  expect(said).toMatch(expected);
  expect(isError).toBeUndefined();
});

test('SPEC 2.2: a long page is cut with a mark that says how to read on, and read on by it', async () => {
  const page = { type: 'text/plain', body: 'a'.repeat(300) + 'b'.repeat(300) };
  const first = await fetched(page, { maxChars: 300 });
  expect(first.said).toMatch(/\na{300}\n[^]*\[characters 0-300 of 600; more with offset 300\]$/);
  expect((await fetched(page, { maxChars: 300, offset: 300 })).said).toMatch(/\nb{300}\n<<<END_UNTRUSTED_CONTENT [0-9a-f]{16}>>>$/);
  expect((await fetched(page, { offset: 600 })).said).toContain('[the page has 600 characters; offset 600 is past its end]');
  await using strict = await boot({ maxChars: 200 });
  expect((await fetched(page, { maxChars: 100_000 }, strict)).said).toContain('characters 0-200 of 600');
});

test('a page is read on between characters, not within one', async () => {
  const page = { type: 'text/plain', body: `${'a'.repeat(99)}🎉b` };
  const first = await fetched(page, { maxChars: 100 });
  expect(first.said).toMatch(/\na{99}\n[^]*\[characters 0-99 of 102; more with offset 99\]$/);
  expect((await fetched(page, { maxChars: 100, offset: 99 })).said).toMatch(/\n🎉b\n<<<END/u);
});

test('of a page that is too long only the beginning is read, which is said', async () => {
  await using bench = await boot({ maxResponseBytes: 10_000 });
  const { said } = await fetched({ type: 'text/plain', body: 'x'.repeat(20_000) }, {}, bench);
  expect(said).toMatch(/x{10000}\n<<<END_[^]*\[the page is longer than what is read of it; its end is missing\]$/);
});

const failing: readonly (readonly [what: string, page: Page, args: object, said: RegExp])[] = [
  [
    'an error page, with the start of its words',
    { status: 404, body: `<p>Not here: ${'x'.repeat(5000)}` },
    {},
    /HTTP 404[^]*Not here: x+\n[^]*characters 0-2000 of/,
  ],
  [
    'what is no text',
    { type: 'application/pdf', body: Buffer.from([37, 80, 0, 1]) },
    {},
    /application\/pdf, 4 bytes: it cannot be shown as text/,
  ],
  ['bytes without a type', { type: '', body: Buffer.from([1, 0, 2]) }, {}, /it cannot be shown as text/],
  ['wrong arguments', {}, { url: 1 }, /wrong arguments for web_fetch: url: must be string/],
  ['an address that is none', {}, { url: 'example' }, /"example" is no URL; give one such as/],
  ['a file', {}, { url: 'file:///etc/passwd' }, /"file:" is not fetched/],
  ['a private address', {}, { url: 'http://10.0.0.1/' }, /10\.0\.0\.1 is a private network/],
];
test.each(failing)('SPEC 2.2: web_fetch answers %s as an error that can be acted on', async (_, page, args, expected) => {
  const { said, isError } = await fetched(page, args);
  expect(said).toMatch(expected);
  expect(isError).toBe(true);
});

test('a redirect to this machine is judged anew and refused', async () => {
  await using inner = await site(() => ({ type: 'text/plain', body: 'metadata' }));
  await using web = await site(() => ({ status: 302, headers: { location: `http://127.0.0.2:${new URL(inner.url).port}/` } }));
  await using bench = await boot();
  const result = await bench.call('web_fetch', { url: web.url });
  expect([result.isError, textOf(result), inner.asked.length]).toEqual([true, expect.stringContaining('is this machine'), 0]);
});

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
test('a picture is an image for a model that sees, and a note for one that does not', async () => {
  await using web = await site(() => ({ type: 'image/png', body: png }));
  await using seeing = await boot();
  const image = { type: 'image', data: png.toString('base64'), mimeType: 'image/png' };
  expect((await seeing.call('web_fetch', { url: web.url })).content[1]).toEqual(image);
  await using blind = await boot({}, { input: ['text'] });
  expect(textOf(await blind.call('web_fetch', { url: web.url }))).toContain('takes no images');
});

const hostile = `<p>first words${'<div>'.repeat(200_000)}`;

test('a hostile page costs a thread and not the gateway: the loop goes on, and its reader is ended when its time is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await using reader = openPageReader();
  const read = reader.read({ html: hostile, url: 'http://x/', mode: 'markdown', article: true }, new AbortController().signal);
  await expect.poll(() => vi.getTimerCount(), { interval: 5 }).toBe(1); // it reads, and we are here
  vi.advanceTimersByTime(4000);
  await expect(read).rejects.toThrow('the page took more than 4 s to be read');
  expect((await fetched({ body: '<p>the next page' })).said).toContain('the next page');
});

test('words of a page that its reader had to leave are shown without form', { timeout: 40_000 }, async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await using bench = await boot({ timeoutSeconds: 300 });
  let said: string | undefined;
  const done = fetched({ body: hostile }, {}, bench).then((result) => (said = result.said));
  await expect.poll(async () => (await vi.advanceTimersByTimeAsync(4000), said), { interval: 100, timeout: 30_000 }).toBeDefined();
  expect(await done).toMatch(/\nfirst words\n<<<END/);
});

test('an aborted call ends at once, also while a page is read', async () => {
  await using web = await site(() => ({ body: hostile }));
  await using bench = await boot();
  const abort = new AbortController();
  const call = bench.call('web_fetch', { url: web.url }, { signal: abort.signal });
  await expect.poll(() => web.asked.length, { timeout: 10_000 }).toBe(1);
  abort.abort(new Error('stopped'));
  await expect(call).rejects.toThrow('stopped');
});

test('SPEC 2.1: switched off, or without the guard, it is not offered', async () => {
  for (const [plugins, fetch] of [
    [[toolsWeb], {}],
    [[fetchPlugin, toolsWeb], { enabled: false }],
  ] as const) {
    await using bench = await toolbench(plugins, { tools: { web: { fetch } } });
    expect((await bench.test.kernel.run((run) => run.tools())).tools.map(({ name }) => name)).not.toContain('web_fetch');
  }
});
