import type { AssistantMessageEvent, SimpleStreamOptions } from '@earendil-works/pi-ai';
import { messageOf } from '../../kernel/index.ts';
import { attemptOf, type Attempt, type Model, type ModelAdapter, type ModelEvent, type ModelRequest } from '../models/contract.ts';
import { partsOf, piContext, piModel, usageOf, type Peculiar } from './conversation.ts';
import { failureOf, witnessed, type Witness } from './failure.ts';
import { withThoughtSignatures } from './google.ts';
import { mayThink } from './messages.ts';
import { loadNormalizer, type Protocol } from './protocols.ts';
import { searchesSeen, untied, withSearch } from './search.ts';
import { callsHeard } from './unended.ts';

const levels = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** One protocol through pi-ai. */
export function piAdapter(protocol: Protocol, userAgent: string): ModelAdapter {
  return {
    api: protocol.api,
    async complete(request, on): Promise<Attempt> {
      const library = await loadLibrary(protocol);
      if ('missing' in library) return attemptOf(request.model, {}, { code: 'ADAPTER_MISSING', message: library.missing });
      const { streamSimple, normalizeContext, peculiar } = library;
      const witness: Witness = {};
      const over = new AbortController();
      try {
        const model = piModel(request.model, peculiar(request.model));
        const stream = streamSimple(model, normalizeContext(piContext(request)), optionsOf(request, userAgent, witness, over.signal));
        const calls = callsHeard();
        for await (const event of stream) {
          calls.hear(event);
          tell(event, on);
        }
        const reply = await stream.result();
        const { stopReason, errorMessage = stopReason, rawStopReason } = reply;
        const parts = { content: untied(partsOf(reply, request.messages, calls.unended), witness), usage: usageOf(reply) };
        if (stopReason === 'stop' || stopReason === 'length' || stopReason === 'toolUse') {
          return attemptOf(request.model, { ...parts, stopReason });
        }
        return attemptOf(request.model, parts, failureOf(witness, errorMessage, rawStopReason, request.signal.aborted));
      } catch (cause) {
        return attemptOf(request.model, {}, failureOf(witness, messageOf(cause), undefined, request.signal.aborted));
      } finally {
        over.abort(); // an answer that was not read to its end would go on for ever
      }
    },
  };
}

async function loadLibrary(protocol: Protocol) {
  try {
    const [{ streamSimple }, normalizeContext, catalog] = await Promise.all([protocol.load(), loadNormalizer(), protocol.catalog()]);
    const models = catalog as Readonly<Record<string, (Peculiar & { readonly baseUrl: string }) | undefined>>;
    const peculiar = ({ provider, id, baseUrl }: Model) =>
      provider === protocol.maker && models[id]?.baseUrl === baseUrl ? models[id] : undefined;
    return { streamSimple, normalizeContext, peculiar };
  } catch (cause) {
    const install = 'install it beside instar: npm install @earendil-works/pi-ai@1.6.0 (with -g where instar was installed so)';
    const isAbsent = (cause as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND';
    const why = isAbsent ? 'is not installed' : `cannot be loaded (${messageOf(cause)})`;
    return { missing: `speaks "${protocol.api}", for which the package @earendil-works/pi-ai is needed; it ${why}; ${install}` };
  }
}

/** No retries in here: a failed attempt is the caller's to repeat, on this model or another. */
function optionsOf(request: ModelRequest, userAgent: string, witness: Witness, over: AbortSignal): SimpleStreamOptions {
  const { apiKey, temperature, maxTokens, sessionId, search } = request;
  const reasoning = levels.find((level) => level === request.thinking && mayThink(request));
  return {
    // A server of one's own may want none; the SDKs insist on some.
    apiKey: apiKey ?? 'none',
    signal: AbortSignal.any([request.signal, over]),
    maxRetries: 0,
    fetch: witnessed(witness),
    ...(request.model.api === 'google-generative-ai' && { onPayload: withThoughtSignatures }),
    ...(search && { onPayload: withSearch(request.model.api, search), onProviderStreamEvent: searchesSeen(witness) }),
    identity: { userAgent: { custom: userAgent }, attribution: null },
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(sessionId !== undefined && { sessionId }),
    ...(reasoning && { reasoning }),
  };
}

function tell(event: AssistantMessageEvent, on: (event: ModelEvent) => void): void {
  if (event.type === 'text_delta') on({ type: 'text', index: event.contentIndex, delta: event.delta });
  else if (event.type === 'thinking_delta') on({ type: 'thinking', index: event.contentIndex, delta: event.delta });
  else if (event.type === 'toolcall_delta') {
    const call = event.partial.content[event.contentIndex];
    if (call?.type !== 'toolCall') return;
    on({ type: 'toolCall', index: event.contentIndex, id: call.id, name: call.name, delta: event.delta });
  }
}
