import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Methods } from '../../../plugins/gateway/contract.ts';
import type { ImportedSession, ImportReport } from '../../../plugins/sessions-admin/contract.ts';
import { bundledPlugins, fakeChannel, fakeModel, type Script, testKernel } from '../../../plugins/testing/kit.ts';

export const recorded = join(import.meta.dirname, 'fixtures/state');
export const ids = { main: id(1), trip: id(2), broken: id(3), oldest: id(4), topic: id(5), work: id(6) };

function id(number: number) {
  return `6c4f0a9e-6a0b-4c55-9d7e-2d5b9a1f000${number}`;
}

/** Not asked here, and a boot is quicker without them. */
const doors = ['gateway', 'models-openai', 'models-pi', 'openai-http', 'watch', 'web'];
const config = { agents: { defaults: { model: 'fake/fake' } } };

/** The whole product with a scripted model, and the source of an import as a copy that a test may change. */
export async function importing(script: Script = () => 'noted') {
  const source = await mkdtemp(join(tmpdir(), 'instar-source-'));
  await cp(recorded, source, { recursive: true });
  const [model, channel] = [fakeModel(script), fakeChannel()];
  const t = await testKernel({ plugins: [...(await bundledPlugins(doors)), model, channel], config });
  const call = <T>(method: string, params: Record<string, unknown>): Promise<T> =>
    t.kernel.run(async (run) => (await (await run.call(Methods, {}))[method]?.(params, {} as never, run)) as T);
  return {
    source,
    model,
    channel,
    home: t.home,
    call,
    sessions: join(source, 'agents/main/sessions'),
    here: (sessionId: string, agent = 'main') => join(t.home, 'agents', agent, 'sessions', `${sessionId}.jsonl`),
    bring: (options: Record<string, unknown> = {}) => call<ImportReport>('sessions.import', { dir: source, ...options }),
    /** Each file of a folder, with what is in it. */
    content: contentOf,
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await rm(source, { recursive: true });
    },
  };
}

export const outcomes = ({ sessions }: ImportReport) => Object.fromEntries(sessions.map(({ key, outcome }) => [key, outcome]));
export const sessionOf = ({ sessions }: ImportReport, key: string) => sessions.find((one) => one.key === key) as ImportedSession;
export const recordsOf = async (file: string): Promise<readonly Record<string, unknown>[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function contentOf(dir: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(dir, { recursive: true });
  const files = await Promise.all(names.map(async (name) => ((await stat(join(dir, name))).isFile() ? [name] : [])));
  return Object.fromEntries(
    await Promise.all(files.flat().map(async (name) => [name, await readFile(join(dir, name), 'latin1')] as const)),
  );
}
