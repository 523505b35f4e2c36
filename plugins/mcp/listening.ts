import { setTimeout as pause } from 'node:timers/promises';

/** The server says when a stream that ended is asked for again; not more often than this, though. */
export const listenMs = 500;

/** The one stream on which a server speaks unasked. */
interface Listening {
  /** For a GET that begins it, or goes on after an event of it; all others are refused. */
  begin(after: string | null): Stream | 'refused';
}

interface Stream {
  /** Waits for its turn. */
  turn(signal: AbortSignal): Promise<void>;
  /** What goes by of the answer tells where it can go on. */
  heard(answer: Response): Response;
  end(): void;
}

/**
 * The library also goes on by GET with the answer to a POST that broke. That stream would have no request whose end is its own, and the
 * server could fill memory by it.
 */
export function openListening(): Listening {
  let [isOpen, last, next] = [false, undefined as string | undefined, 0];
  const stream: Stream = {
    async turn(signal) {
      const now = performance.now();
      const wait = Math.max(0, next - now);
      next = now + wait + listenMs;
      if (wait > 0) await pause(wait, undefined, { signal, ref: false });
    },
    heard: (answer) => withIds(answer, (id) => (last = id)),
    end: () => void (isOpen = false),
  };
  return {
    begin(after) {
      if (isOpen || (after !== null && after !== last)) return 'refused';
      isOpen = true;
      return stream;
    },
  };
}

/** Of a line no more is kept than an id needs. */
const maxLine = 1000;

function withIds(answer: Response, on: (id: string) => void): Response {
  const decoder = new TextDecoder();
  let line = '';
  const reading = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lines = (line + decoder.decode(chunk, { stream: true })).split(/\r\n|\r|\n/);
      line = lines.pop()?.slice(0, maxLine) ?? '';
      for (const [, id] of lines.flatMap((one) => [/^id: ?(.+)$/.exec(one) ?? []])) if (id !== undefined) on(id);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = answer;
  return answer.body ? new Response(answer.body.pipeThrough(reading), { status, statusText, headers }) : answer;
}
