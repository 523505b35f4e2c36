import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { secretChannel, type SecretInput, secretOf, type SecretRef, Secrets } from '../../../plugins/secrets/contract.ts';
import secrets from '../../../plugins/secrets/index.ts';
import { testKernel } from '../../support/kernel.ts';

const env = { KEY: 'from-the-environment', EMPTY: '', OTHER: 'other-secret' };
const path = 'models.providers.p.apiKey';

async function boot(config: object, files: Readonly<Record<string, string>> = {}) {
  const t = await testKernel({ env });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(t.home, name), text, { mode: name.endsWith('.sh') ? 0o700 : 0o600 });
  const inHome = JSON.parse(JSON.stringify(config).replaceAll('$HOME', t.home)) as object;
  await t.apply([secrets], { secrets: inHome });
  return {
    home: t.home,
    resolve: (input: SecretInput | undefined) => t.kernel.run((run) => secretOf(run, input, path)),
    forget: (ref: SecretRef) => t.kernel.run((run) => run.get(Secrets).forget(ref)),
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  };
}

const program = (body: string) => `#!/bin/sh\n${body}\n`;
const exec = (more: object = {}) => ({ providers: { vault: { source: 'exec', command: '$HOME/vault.sh', ...more } } });
const asked: SecretRef = { source: 'exec', provider: 'vault', id: 'a/b' };
const answers = (value: string) => program(`read -r q; echo '{"protocolVersion":1,"values":{"a/b":"${value}"}}'`);

test.for<readonly [string, object, Readonly<Record<string, string>>, SecretInput | undefined, string | undefined]>([
  ['a text is the secret', {}, {}, 'in-clear', 'in-clear'],
  ['an empty text is none', {}, {}, '', undefined],
  ['nothing is none', {}, {}, undefined, undefined],
  ['a variable, without any provider', {}, {}, { source: 'env', id: 'KEY' }, 'from-the-environment'],
  [
    'a variable of the provider that existing configs name',
    {},
    {},
    { source: 'env', provider: 'default', id: 'KEY' },
    'from-the-environment',
  ],
  [
    'a variable that is allowed',
    { providers: { default: { source: 'env', allowlist: ['KEY'] } } },
    {},
    { source: 'env', id: 'KEY' },
    'from-the-environment',
  ],
  [
    'a named default',
    { defaults: { env: 'e' }, providers: { e: { source: 'env' } } },
    {},
    { source: 'env', id: 'KEY' },
    'from-the-environment',
  ],
  [
    'a pointer into a file',
    { providers: { f: { source: 'file', path: '$HOME/s.json' } } },
    { 's.json': '{"a/b":{"c~d":["x","from-the-file"]}}' },
    { source: 'file', provider: 'f', id: '/a~1b/c~0d/1' },
    'from-the-file',
  ],
  [
    'a file that holds one',
    { providers: { default: { source: 'file', path: '$HOME/s', mode: 'singleValue' } } },
    { s: ' spaces stay \n' },
    { source: 'file', id: 'value' },
    ' spaces stay ',
  ],
  ['a program', exec(), { 'vault.sh': answers('from-the-program') }, asked, 'from-the-program'],
  ['a program that prints it bare', exec({ jsonOnly: false }), { 'vault.sh': program('echo bare') }, { ...asked, id: 'value' }, 'bare'],
  [
    'a program whose link is allowed',
    exec({ command: '$HOME/link', allowSymlinkCommand: true, trustedDirs: ['$HOME'] }),
    { 'vault.sh': answers('linked') },
    asked,
    'linked',
  ],
])('%s', async ([, config, files, input, expected]) => {
  await using s = await boot(config, files);
  symlinkSync(join(s.home, 'vault.sh'), join(s.home, 'link'));
  expect(await s.resolve(input)).toBe(expected);
});

const json = { providers: { f: { source: 'file', path: '$HOME/s.json' } } };
test.for<readonly [string, object, Readonly<Record<string, string>>, SecretRef, RegExp]>([
  ['a variable that is not set', {}, {}, { source: 'env', id: 'GONE' }, /the environment variable GONE is not set; .*\.env/],
  ['an empty variable', {}, {}, { source: 'env', id: 'EMPTY' }, /EMPTY is not set/],
  ['no variable name', {}, {}, { source: 'env', id: 'a b' }, /"a b" is no name of a variable/],
  [
    'a variable that is not allowed',
    { providers: { default: { source: 'env', allowlist: ['KEY'] } } },
    {},
    { source: 'env', id: 'OTHER' },
    /allowlist does not name OTHER/,
  ],
  ['a provider that nobody configured', {}, {}, { source: 'env', provider: 'x', id: 'KEY' }, /there is no secrets\.providers\.x/],
  ['a file without a provider', {}, {}, { source: 'file', id: '/x' }, /there is no secrets\.providers\.default; add/],
  ['a provider of another source', json, {}, { source: 'exec', provider: 'f', id: 'x' }, /secrets\.providers\.f is of source "file"/],
  [
    'a file provider without a path',
    { providers: { f: { source: 'file' } } },
    {},
    { source: 'file', provider: 'f', id: '/x' },
    /has no path/,
  ],
  ['a file that is not there', json, {}, { source: 'file', provider: 'f', id: '/x' }, /s\.json .* is not there/],
  ['a folder', { providers: { f: { source: 'file', path: '$HOME' } } }, {}, { source: 'file', provider: 'f', id: '/x' }, /no regular file/],
  [
    'a file too large',
    { providers: { f: { source: 'file', path: '$HOME/s.json', maxBytes: 3 } } },
    { 's.json': '"hidden-secret"' },
    { source: 'file', provider: 'f', id: '/x' },
    /larger than 3 bytes/,
  ],
  ['no JSON', json, { 's.json': 'hidden-secret' }, { source: 'file', provider: 'f', id: '/x' }, /s\.json is no JSON/],
  [
    'a pointer to nothing',
    json,
    { 's.json': '{"y":"hidden-secret"}' },
    { source: 'file', provider: 'f', id: '/x/z' },
    /has no text at \/x\/z/,
  ],
  ['a pointer into a prototype', json, { 's.json': '{}' }, { source: 'file', provider: 'f', id: '/constructor/name' }, /has no text/],
  ['no pointer', json, { 's.json': '{"y":"hidden-secret"}' }, { source: 'file', provider: 'f', id: 'y' }, /no JSON pointer/],
  ['a program that is not there', exec(), {}, asked, /vault\.sh .* is not there or cannot be run/],
  ['a link', exec({ command: '$HOME/link' }), { 'vault.sh': answers('x') }, asked, /is a link; .*allowSymlinkCommand/],
  [
    'a program out of bounds',
    exec({ trustedDirs: ['/nowhere'] }),
    { 'vault.sh': answers('x') },
    asked,
    /lies in none of secrets\.providers\.vault\.trustedDirs/,
  ],
  [
    'a program that fails',
    exec(),
    { 'vault.sh': program('echo hidden-secret; echo hidden-secret >&2; exit 3') },
    asked,
    /ended with exit code 3; run it by hand/,
  ],
  ['a program that hangs', exec({ timeoutMs: 150 }), { 'vault.sh': program('sleep 60') }, asked, /did not answer in 150 ms/],
  ['a program that is silent', exec({ noOutputTimeoutMs: 100 }), { 'vault.sh': program('sleep 60') }, asked, /printed nothing for 100 ms/],
  [
    'a program that floods',
    exec({ maxOutputBytes: 1000 }),
    { 'vault.sh': program('yes hidden-secret') },
    asked,
    /printed more than 1000 bytes/,
  ],
  ['a program that answers something else', exec(), { 'vault.sh': program('echo hidden-secret') }, asked, /did not answer in JSON/],
  [
    'a program that says no',
    exec(),
    { 'vault.sh': program(`echo '{"values":{},"errors":{"a/b":{"message":"hidden-secret"}}}'`) },
    asked,
    /has no "a\/b"/,
  ],
  ['a program that prints nothing', exec({ jsonOnly: false }), { 'vault.sh': program(':') }, asked, /printed nothing/],
])('SPEC 4.7: %s is one line that names the config path and what to do, and tells no secret', async ([, config, files, ref, says]) => {
  await using s = await boot(config, files);
  symlinkSync(join(s.home, 'vault.sh'), join(s.home, 'link'));
  const error = (await s.resolve(ref).catch((cause: unknown) => cause)) as { code: string; message: string; cause?: unknown };
  expect(error).toMatchObject({ code: 'SECRET_UNAVAILABLE', message: expect.stringMatching(says) });
  expect(error.message).toMatch(/^models\.providers\.p\.apiKey: [^\n]*$/);
  expect(error.message).not.toContain('hidden-secret');
  expect(error.cause).toBeUndefined();
});

test('what other users may write is not trusted, unless the provider says so', async () => {
  const files = { 's.json': '{"x":"v"}', 'vault.sh': answers('v') };
  const ref: SecretRef = { source: 'file', provider: 'f', id: '/x' };
  for (const allowInsecurePath of [false, true]) {
    const providers = { ...exec({ allowInsecurePath }).providers, f: { source: 'file', path: '$HOME/s.json', allowInsecurePath } };
    await using s = await boot({ providers }, files);
    for (const [name, mode] of [
      ['s.json', 0o666],
      ['vault.sh', 0o777],
    ] as const)
      chmodSync(join(s.home, name), mode);
    const both = await Promise.allSettled([s.resolve(ref), s.resolve(asked)]);
    expect(both.map(({ status }) => status)).toEqual(allowInsecurePath ? ['fulfilled', 'fulfilled'] : ['rejected', 'rejected']);
  }
});

test('a program gets what it is asked on its input, the variables it was promised and no others, and no shell reads its arguments', async () => {
  const script = program('read -r q; printf "%s\\n" "$q" "$*" "${KEY-none}" "${OTHER-none}" "${MORE-none}" "$PWD" > "$1"; echo ok');
  const more = { jsonOnly: false, args: ['$HOME/seen', '$(id)', 'a;b'], passEnv: ['KEY'], env: { MORE: 'm' } };
  await using s = await boot(exec(more), { 'vault.sh': script });
  expect(await s.resolve(asked)).toBe('ok');
  const { readFileSync } = await import('node:fs');
  expect(readFileSync(join(s.home, 'seen'), 'utf8').trim().split('\n')).toEqual([
    '{"protocolVersion":1,"provider":"vault","ids":["a/b"]}',
    `${s.home}/seen $(id) a;b`,
    'from-the-environment',
    'none',
    'm',
    '/',
  ]);
});

test('a file is read each time, a program is asked again once its answer is too old or was refused', async () => {
  const counting = program('echo x >> "$1"; echo "secret-$(wc -l < "$1" | tr -d " ")"');
  await using s = await boot(exec({ jsonOnly: false, args: ['$HOME/count'] }), { 'vault.sh': counting });
  expect(await Promise.all([s.resolve(asked), s.resolve(asked)])).toEqual(['secret-1', 'secret-1']);
  await s.forget(asked);
  expect(await s.resolve(asked)).toBe('secret-2');

  await using f = await boot({ providers: { default: { source: 'file', path: '$HOME/d/s', mode: 'singleValue' } } });
  mkdirSync(join(f.home, 'd'));
  for (const value of ['one', 'two']) {
    writeFileSync(join(f.home, 'd/s'), value, { mode: 0o600 });
    expect(await f.resolve({ source: 'file', id: 'value' })).toBe(value);
  }
});

test('each resolved secret is told to whoever writes logs; without the plugin a reference names it, and a text still works', async () => {
  const told: unknown[] = [];
  const onSecret = (secret: unknown) => void told.push(secret);
  subscribe(secretChannel, onSecret);
  try {
    await using s = await boot({});
    await s.resolve({ source: 'env', id: 'KEY' });
  } finally {
    unsubscribe(secretChannel, onSecret);
  }
  expect(told).toEqual(['from-the-environment']);
  await using t = await testKernel({ plugins: [] });
  await t.apply([{ name: 'none', description: '', setup() {} }]);
  await expect(t.kernel.run((run) => secretOf(run, { source: 'env', id: 'KEY' }, path))).rejects.toMatchObject({
    code: 'SECRET_UNAVAILABLE',
    message: expect.stringContaining('plugin "secrets"'),
  });
  expect(await t.kernel.run((run) => secretOf(run, 'text', path))).toBe('text');
});

test('a faulty provider block is left out alone', async () => {
  await using t = await testKernel({ env });
  await t.apply([secrets], { secrets: { providers: { bad: { source: 'vault' }, default: { source: 'env' } } } });
  expect(t.kernel.inspect().leftOut).toMatchObject([
    { plugin: 'secrets.providers.bad', why: expect.stringContaining('must be one of env, file, exec') },
  ]);
  expect(await t.kernel.run((run) => secretOf(run, { source: 'env', provider: 'default', id: 'KEY' }, path))).toBe('from-the-environment');
});
