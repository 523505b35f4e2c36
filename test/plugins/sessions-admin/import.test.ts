import { appendFile, copyFile, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Message, SessionRecord } from '../../../plugins/sessions/contract.ts';
import { validHistory } from '../../../plugins/sessions/repair.ts';
import type { Shown } from '../../../plugins/sessions-admin/contract.ts';
import type { FakeModel } from '../../../plugins/testing/kit.ts';
import { ids, importing, outcomes, recordsOf, sessionOf } from './importing.ts';

vi.setConfig({ testTimeout: 60_000 }); // each boots the product, beside everything else that runs then

const trip = 'agent:main:whatsapp:group:120363@g.us';
const broken = 'agent:main:telegram:direct:4711';
const said = ({ content }: Message) =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : part.type)).join();

/** What the model was asked last. */
const asked = ({ model }: { readonly model: FakeModel }): readonly Message[] => model.requests.at(-1)?.messages ?? [];

test('SPEC 12.1: a recorded state folder comes in with keys, ids, times and titles; the source stays as it was', async () => {
  await using t = await importing();
  const before = await t.content(t.source);
  const report = await t.bring();
  expect(outcomes(report)).toEqual({
    'agent:main:main': 'added',
    [trip]: 'added',
    [broken]: 'added',
    'agent:main:main:old': 'added',
    'agent:main:telegram:group:-100:topic:7': 'added',
    'agent:work:main': 'added',
    'agent:main:cron:gone': 'failed',
    'agent:main:evil': 'failed',
    'agent:main:null': 'failed',
  });
  expect(report).toMatchObject({ unnamed: 1, problems: [expect.stringContaining('agent "work" is not in the config')] });
  expect(await t.content(t.source)).toEqual(before);
  const { sessions } = await t.call<{ sessions: SessionRecord[] }>('sessions.list', {});
  expect(sessions.find(({ key }) => key === trip)).toMatchObject({
    sessionId: ids.trip,
    title: 'whatsapp:g-trip',
    updatedAt: 1770361920000,
  });
  expect(sessions.find(({ key }) => key === 'agent:main:main:old')).toMatchObject({ title: 'from before ids', createdAt: 1770361260000 });
  expect(sessions).toHaveLength(6);
});

test('a whole transcript of today is taken byte for byte', async () => {
  await using t = await importing();
  await t.bring();
  for (const id of [ids.main, ids.trip]) expect(await readFile(t.here(id))).toEqual(await readFile(join(t.sessions, `${id}.jsonl`)));
});

test('a second import adds nothing and says so, also where a session has gone on here', async () => {
  await using t = await importing();
  await t.bring();
  await t.channel.ask('and now?');
  const before = await t.content(join(t.home, 'agents'));
  const report = await t.bring();
  expect(new Set(Object.values(outcomes(report)))).toEqual(new Set(['present', 'failed']));
  expect(sessionOf(report, 'agent:main:main').why).toBe('it has gone on here');
  expect(await t.content(join(t.home, 'agents'))).toEqual(before);
});

test('a dry run reports the same and writes nothing', async () => {
  await using t = await importing();
  const dry = await t.bring({ dryRun: true });
  expect(await t.call('sessions.list', {})).toEqual({ sessions: [] });
  expect(await t.content(t.home)).not.toHaveProperty([`agents/main/sessions/${ids.main}.jsonl`]);
  expect({ ...(await t.bring()), dryRun: true }).toEqual(dry);
});

test('SPEC 12.1: the next message goes on with what was said there, in a form that providers take', async () => {
  await using t = await importing();
  await t.bring();
  await t.channel.ask('What is my cat called?');
  const messages = asked(t);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant', 'user']);
  expect(said(messages[0] as Message)).toContain('My cat is called Miezi');
  expect(validHistory(messages)).toEqual(messages);
  expect((await recordsOf(t.here(ids.main))).at(-2)).toMatchObject({
    parentId: 'e4e29d40',
    message: { content: 'What is my cat called?' },
  });
});

test('a compaction stands for what it summed up, an abandoned branch for nothing, an open call is closed', async () => {
  await using t = await importing();
  await t.bring();
  await t.channel.ask('Go on', { sessionKey: trip });
  const messages = asked(t);
  expect(messages.map(said)).toEqual([
    expect.stringContaining('Ada plans a trip to Lisbon in May.'),
    'kept question',
    'kept answer',
    expect.stringContaining('git status'),
    'an extension says hello',
    'book it',
    'toolCall',
    expect.stringContaining('interrupted'),
    'Go on',
  ]);
  const shown = await t.call<Shown>('sessions.show', { sessionKey: trip, last: 100 });
  expect(shown.entries.map(({ message }) => said(message))).toContain('oldest answer'); // people still have the whole of it
});

test('the oldest form gets ids and parents; its compaction keeps what it kept', async () => {
  await using t = await importing();
  await t.bring();
  const records = await recordsOf(t.here(ids.oldest));
  expect(records.map(({ id, parentId }) => [id, parentId]).slice(1, 3)).toEqual([
    ['00000002', null],
    ['00000003', '00000002'],
  ]);
  expect(records[0]).toMatchObject({ type: 'session', version: 3, id: ids.oldest });
  expect(records[3]).toMatchObject({ type: 'compaction', firstKeptEntryId: '00000003' });
  await t.channel.ask('Yes', { sessionKey: 'agent:main:main:old' });
  const told = asked(t).map(said);
  expect(told).toEqual([expect.stringContaining('an old summary'), 'noted', 'from a hook', 'still there?', 'Yes']);
});

test('what is wrong with a transcript is told line by line, and the rest is kept', async () => {
  await using t = await importing();
  const { notes } = sessionOf(await t.bring(), broken);
  expect(notes.map(({ line, text }) => `${line} ${text}`)).toEqual([
    expect.stringMatching(/^1 a byte order mark/),
    expect.stringMatching(/^3 skipped: it is no JSON/),
    expect.stringMatching(/^4 its parent "000000b2" is not before it/),
    ...[6, 7, 8].map((line) => expect.stringMatching(new RegExp(`^${line} skipped: it is no record`)) as string),
    expect.stringMatching(/^10 the id "000000b1" is an earlier record's too/),
    expect.stringMatching(/^12 skipped: a second session header/),
    expect.stringMatching(/^14 skipped: the last line is cut off/),
    expect.stringMatching(/^9 of the unknown type "hologram": kept/),
    expect.stringMatching(/^11 a message that no model can be shown: kept/),
  ]);
  await t.channel.ask('and?', { sessionKey: broken });
  expect(asked(t).map(said)).toEqual(['one', 'three', 'same id again', 'last whole one', 'and?']);
  const records = await recordsOf(t.here(ids.broken)); // line by line, as other tools read it
  const seen = new Set<unknown>([null]);
  for (const { id, parentId, type } of records) {
    if (type !== 'session') expect(seen.has(parentId)).toBe(true);
    seen.add(id);
  }
});

test('a session that is here with another conversation is left alone, until --replace, which keeps what was here', async () => {
  await using t = await importing();
  await t.channel.ask('said here first');
  const mine = (await t.call<Shown>('sessions.show', { sessionKey: 'main' })).file;
  const text = await readFile(mine, 'utf8');
  expect(sessionOf(await t.bring(), 'agent:main:main')).toMatchObject({
    outcome: 'conflict',
    why: expect.stringContaining('another conversation here'),
  });
  expect((await t.call<Shown>('sessions.show', { sessionKey: 'main' })).file).toBe(mine);
  expect(sessionOf(await t.bring({ replace: true }), 'agent:main:main').outcome).toBe('replaced');
  expect((await t.call<Shown>('sessions.show', { sessionKey: 'main' })).session.sessionId).toBe(ids.main);
  expect(await readFile(mine, 'utf8')).toBe(text);
});

test('what the source said since the last import is added; where both went on it is a conflict', async () => {
  await using t = await importing();
  await t.bring();
  const from = join(t.sessions, `${ids.main}.jsonl`);
  const more = {
    type: 'message',
    id: 'f5f3ae51',
    parentId: 'e4e29d40',
    timestamp: '2026-02-06T08:00:00.000Z',
    message: { role: 'user', content: 'later', timestamp: 1 },
  };
  await appendFile(from, `${JSON.stringify(more)}\n`);
  expect(sessionOf(await t.bring(), 'agent:main:main')).toMatchObject({ outcome: 'updated' });
  expect(await readFile(t.here(ids.main))).toEqual(await readFile(from));
  await t.channel.ask('here');
  expect(asked(t).map(said).slice(-2)).toEqual(['later', 'here']);
  await appendFile(from, `${JSON.stringify({ ...more, id: 'f5f3ae52', parentId: 'f5f3ae51' })}\n`);
  const both = await readFile(t.here(ids.main), 'utf8');
  expect(sessionOf(await t.bring(), 'agent:main:main')).toMatchObject({ outcome: 'conflict', why: expect.stringContaining('both sides') });
  expect(await readFile(t.here(ids.main), 'utf8')).toBe(both);
  const { outcome, why = '' } = sessionOf(await t.bring({ replace: true }), 'agent:main:main');
  expect(outcome).toBe('replaced');
  expect(await readFile(/now (\S+)$/.exec(why)?.[1] ?? '', 'utf8')).toBe(both);
  await t.channel.ask('again');
  expect(asked(t).map(said).slice(-3)).toEqual(['later', 'later', 'again']);
});

test.each([
  ['empty', (file: string) => truncate(file), 'it is empty'],
  ['torn', (file: string) => truncate(file, 100), 'JSON'],
  ['a list', (file: string) => writeFile(file, '[1]'), 'no object of session keys'],
] as const)('an index that is %s is reported; --all brings the transcripts all the same', async (_, spoil, why) => {
  await using t = await importing();
  await spoil(join(t.sessions, 'sessions.json'));
  const report = await t.bring();
  expect(outcomes(report)).toEqual({ 'agent:work:main': 'added' });
  expect(report).toMatchObject({ unnamed: 6, problems: [expect.stringContaining(why), expect.anything()] });
  expect(Object.keys(outcomes(await t.bring({ all: true })))).toContain(`agent:main:imported:${ids.main}`);
});

test('a sessions folder and an agent folder are taken too, and may be given to another agent', async () => {
  await using t = await importing();
  const alone = await t.call<never>('sessions.import', { dir: join(t.source, 'agents/work/sessions'), agentId: 'main', dryRun: true });
  expect(outcomes(alone)).toEqual({ 'agent:main:main': 'added' });
  const agent = await t.call<never>('sessions.import', { dir: join(t.source, 'agents/work'), dryRun: true });
  expect(outcomes(agent)).toEqual({ 'agent:work:main': 'added' });
});

test('two keys of one transcript: the first has it; a link out of the folder is not followed; a folder is no transcript', async () => {
  await using t = await importing();
  const entry = (sessionId: string) => ({ sessionId, updatedAt: 1 });
  const index = {
    'agent:main:main': entry(ids.main),
    'agent:main:again': entry(ids.main),
    'agent:main:link': entry('link'),
    'agent:main:dir': entry('dir'),
  };
  await writeFile(join(t.sessions, 'sessions.json'), JSON.stringify(index));
  await copyFile(join(t.sessions, `${ids.trip}.jsonl`), join(t.source, 'outside.jsonl'));
  await symlink(join(t.source, 'outside.jsonl'), join(t.sessions, 'link.jsonl'));
  await mkdir(join(t.sessions, 'dir.jsonl'));
  const report = await t.bring();
  expect(outcomes(report)).toMatchObject({
    'agent:main:main': 'added',
    'agent:main:again': 'conflict',
    'agent:main:link': 'failed',
    'agent:main:dir': 'failed',
  });
});

test('keys of older kinds become ours; of two entries that then mean one key the later one comes, also with --replace', async () => {
  await using t = await importing();
  const index = {
    'telegram:dm:4711': { sessionId: ids.main, updatedAt: 1 },
    'agent:main:telegram:direct:4711': { sessionId: ids.trip, updatedAt: 2 },
    'agent:Main:signal:bot:dm:+49': { sessionId: ids.topic, sessionFile: `/old/place/${ids.topic}-topic-7.jsonl` },
    'agent:main:dm:ada': { sessionId: ids.oldest },
    main: { sessionId: ids.broken },
  };
  await writeFile(join(t.sessions, 'sessions.json'), JSON.stringify(index));
  for (const replace of [false, true]) {
    const report = await t.bring({ replace });
    expect(report.sessions.slice(0, 5).map(({ key, outcome }) => `${key} ${outcome}`)).toEqual([
      `agent:main:telegram:direct:4711 ${replace ? 'present' : 'added'}`,
      'agent:main:telegram:direct:4711 conflict',
      `agent:main:signal:bot:direct:+49 ${replace ? 'present' : 'added'}`,
      `agent:main:direct:ada ${replace ? 'present' : 'added'}`,
      `agent:main:main ${replace ? 'present' : 'added'}`,
    ]);
  }
});

test('a state folder that is ours already: what lies in place is adopted, and nothing of it is rewritten', async () => {
  await using t = await importing();
  await mkdir(join(t.home, 'agents/main/sessions'), { recursive: true });
  for (const name of ['sessions.json', `${ids.main}.jsonl`, `${ids.broken}.jsonl`])
    await copyFile(join(t.sessions, name), join(t.home, 'agents/main/sessions', name));
  const before = await t.content(join(t.home, 'agents'));
  const report = await t.call<never>('sessions.import', { dir: t.home, replace: true });
  expect(outcomes(report)).toMatchObject({ 'agent:main:main': 'added', [broken]: 'conflict' });
  expect(await t.content(join(t.home, 'agents'))).toEqual(before);
});

test('a session in which a turn runs is not touched', async () => {
  const [isAsked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using t = await importing(async () => {
    isAsked.resolve();
    await gate.promise;
    return 'done';
  });
  const answer = t.channel.ask('hold on');
  await isAsked.promise;
  expect(sessionOf(await t.bring({ replace: true }), 'agent:main:main')).toMatchObject({
    outcome: 'failed',
    why: expect.stringContaining('a turn of it runs'),
  });
  gate.resolve();
  expect((await answer).text).toBe('done');
});

test('a compaction under way while a session is brought anew gives up with a word, and nothing of what came is lost', async () => {
  const [isAsked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using t = await importing(async (request) => {
    if (!request.system.startsWith('You write summaries')) return 'x'.repeat(4000);
    isAsked.resolve();
    await gate.promise;
    return 'SUM';
  });
  await t.bring();
  for (let i = 0; i < 4; i++) await t.channel.ask(`question ${i}`);
  const file = t.here(ids.main);
  const text = await readFile(file, 'utf8');
  const { id: parentId } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as { id: string };
  const more = {
    type: 'message',
    id: 'more',
    parentId,
    timestamp: new Date(2).toISOString(),
    message: { role: 'user', content: 'BROUGHT', timestamp: 2 },
  };
  await writeFile(join(t.sessions, `${ids.main}.jsonl`), `${text}${JSON.stringify(more)}\n`);
  const compacting = t.call<{ compacted: boolean; text: string }>('sessions.compact', { sessionKey: 'main' });
  await isAsked.promise;
  expect(sessionOf(await t.bring(), 'agent:main:main').outcome).toBe('updated');
  gate.resolve();
  expect(await compacting).toEqual({ compacted: false, text: expect.stringContaining('another transcript was put in its place') });
  expect(await readFile(file, 'utf8')).not.toContain('"compaction","id"');
  await t.channel.ask('and now?');
  expect(asked(t).map(said)).toContain('BROUGHT');
});

test('what it cannot do is refused with a code and a cure', async () => {
  await using t = await importing();
  const rows: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ dir: 'relative' }, 'IMPORT_DIR'],
    [{ dir: '/nowhere/at/all' }, 'IMPORT_DIR'],
    [{ dir: import.meta.filename }, 'IMPORT_DIR'],
    [{ dir: import.meta.dirname }, 'IMPORT_EMPTY'],
    [{}, 'SESSIONS_PARAMS'],
    [{ dir: '/tmp', replace: 'yes' }, 'SESSIONS_PARAMS'],
  ];
  for (const [params, code] of rows) await expect(t.call('sessions.import', params)).rejects.toMatchObject({ code });
  await expect(t.call('sessions.show', { sessionKey: 'nobody' })).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
});
