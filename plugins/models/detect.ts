import type { ClientRequest } from 'node:http';
import type { Model } from './contract.ts';
import { localServers, modelOf, type KnownProvider } from './known.ts';

/** A model server on this machine that told by its own identity endpoint what it is. */
export interface LocalServer {
  readonly provider: KnownProvider;
  /** E.g. `Ollama 0.12.6`. */
  readonly title: string;
  /** The first is the one to use. */
  readonly models: readonly Model[];
}

const http = process.getBuiltinModule('node:http');
const answerMs = 300;
const answerLimit = 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;
type Ask = (path: string, body?: Json) => Promise<Json | undefined>;
type Facts = Pick<Model, 'id'> & Partial<Pick<Model, 'contextWindow' | 'input' | 'compat'>>;

interface Probe {
  /** Its version where it tells one; undefined where something else answers. */
  identify(ask: Ask): Promise<string | undefined>;
  models(ask: Ask): Promise<readonly Facts[]>;
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const isEmbedder = (id: string) => /embed|rerank/i.test(id);

function facts(id: unknown, contextWindow: unknown): readonly Facts[] {
  if (typeof id !== 'string' || isEmbedder(id)) return [];
  return [{ id, ...(typeof contextWindow === 'number' && contextWindow > 0 && { contextWindow }) }];
}

const probes: Readonly<Record<keyof typeof localServers, Probe>> = {
  ollama: {
    identify: async (ask) => textOf((await ask('/api/version'))?.['version']),
    async models(ask) {
      const found = list((await ask('/api/tags'))?.['models']).flatMap(({ name }) => facts(name, undefined));
      const [first, ...rest] = found;
      if (!first) return [];
      const { capabilities } = (await ask('/api/show', { model: first.id })) ?? {};
      if (!Array.isArray(capabilities)) return found;
      const input = capabilities.includes('vision') ? (['text', 'image'] as const) : (['text'] as const);
      return [{ ...first, input, compat: { supportsTools: capabilities.includes('tools') } }, ...rest];
    },
  },
  lmstudio: {
    identify: async (ask) => (list((await ask('/api/v0/models'))?.['data']).some(({ state }) => textOf(state)) ? '' : undefined),
    async models(ask) {
      const all = list((await ask('/api/v0/models'))?.['data']).filter(({ type }) => type === 'llm' || type === 'vlm');
      const loadedFirst = all.toSorted((a, b) => Number(b['state'] === 'loaded') - Number(a['state'] === 'loaded'));
      return loadedFirst.flatMap(({ id, type, loaded_context_length, max_context_length }) =>
        facts(id, loaded_context_length ?? max_context_length).map(
          (each): Facts => ({ ...each, input: type === 'vlm' ? ['text', 'image'] : ['text'] }),
        ),
      );
    },
  },
  llamacpp: {
    async identify(ask) {
      const props = await ask('/props');
      return props?.['default_generation_settings'] ? (textOf(props['build_info']) ?? '') : undefined;
    },
    async models(ask) {
      const settings = (await ask('/props'))?.['default_generation_settings'] as Json | undefined;
      return list((await ask('/v1/models'))?.['data']).flatMap(({ id }) => facts(id, settings?.['n_ctx']));
    },
  },
  vllm: {
    // Anything may answer /version: the model list says whose it is.
    async identify(ask) {
      const version = textOf((await ask('/version'))?.['version']);
      const mine = version && list((await ask('/v1/models'))?.['data']).some(({ owned_by }) => owned_by === 'vllm');
      return mine ? version : undefined;
    },
    models: async (ask) => list((await ask('/v1/models'))?.['data']).flatMap(({ id, max_model_len }) => facts(id, max_model_len)),
  },
};

/** The first local server, in the fixed order, that has a model to offer. All are asked at once; odd answers are none. */
export async function detectLocal(
  signal: AbortSignal,
  servers: Readonly<Record<keyof typeof localServers, KnownProvider>> = localServers,
): Promise<LocalServer | undefined> {
  const names = Object.keys(probes) as (keyof typeof localServers)[];
  const answers = await Promise.all(names.map((name) => look(servers[name], probes[name], signal).catch(() => undefined)));
  return answers.find((answer) => answer !== undefined);
}

async function look(provider: KnownProvider, probe: Probe, signal: AbortSignal): Promise<LocalServer | undefined> {
  const ask = asker(new URL(provider.baseUrl).origin, signal);
  const version = await probe.identify(ask);
  if (version === undefined) return undefined;
  const models = (await probe.models(ask)).map((each) => ({ ...modelOf(provider, each.id), ...each }));
  return models.length > 0 ? { provider, title: `${provider.title} ${version}`.trim(), models } : undefined;
}

/** A short question. Whatever is not a quick JSON object is no answer. */
function asker(origin: string, signal: AbortSignal): Ask {
  return (path, body) =>
    new Promise((resolve) => {
      const request = http.request(`${origin}${path}`, { method: body ? 'POST' : 'GET', signal, agent: false });
      const moved = patience(request);
      request.on('socket', (socket) => socket.on('connect', moved));
      request.on('error', () => resolve(undefined));
      request.on('close', () => resolve(undefined));
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
          if (text.length > answerLimit) request.destroy();
        });
        response.on('error', () => resolve(undefined));
        response.on('end', () => resolve(response.statusCode === 200 ? objectOf(text) : undefined));
        moved();
      });
      request.end(body && JSON.stringify(body));
    });
}

/** Gives up after a while without a step. Steps that wait behind the timer in a busy process are seen first. */
function patience(request: ClientRequest): () => void {
  let steps = 0;
  const timer = setTimeout(() => {
    const before = steps;
    setImmediate(() => steps === before && request.destroy());
  }, answerMs);
  request.on('close', () => clearTimeout(timer));
  return () => {
    steps++;
    timer.refresh();
  };
}

function objectOf(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    // Not the server that is looked for.
    return undefined;
  }
}
