/** Requests that were sent and whose answers still come. */
export interface Fates {
  /** For the body of a POST: its answer is read no longer once the client has cancelled what it asked. `end` forgets it. */
  of(body: unknown): { readonly signal: AbortSignal; end(): void };
}

/** The client gives up a request, at its time limit too, by a message to the server; a server that does not care would go on to answer. */
export function openFates(): Fates {
  const open = new Map<unknown, AbortController>();
  return {
    of(body) {
      const { id, method, params } = typeof body === 'string' ? (JSON.parse(body) as Message) : {};
      const stop = new AbortController();
      if (method === 'notifications/cancelled') open.get(params?.requestId)?.abort(new Error('it was cancelled'));
      else if (method !== undefined && id !== undefined) open.set(id, stop);
      return { signal: stop.signal, end: () => void (open.get(id) === stop && open.delete(id)) };
    },
  };
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly requestId?: unknown };
}
