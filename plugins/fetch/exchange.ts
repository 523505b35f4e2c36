import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as viaHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Target } from './target.ts';

const { Agent: HttpAgent, request: viaHttp } = process.getBuiltinModule('node:http');

/** One request on a connection of its own, to one of the targets and nowhere else. Settles with the head of the answer. */
export function exchange(url: URL, targets: readonly Target[], options: Outgoing): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const { method, headers, body, signal } = options;
  const wired: RequestOptions = { method, headers, signal, agent: isSecure ? secureAgent() : new HttpAgent(), lookup: pinned(targets) };
  return new Promise((answered, failed) => {
    const sent = (isSecure ? viaHttps : viaHttp)(url, wired, answered);
    sent.on('error', failed);
    sent.end(body);
  });
}

export interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/** An agent of our own: the global one may go through a proxy, which would look the name up again. */
const secureAgent = () => new HttpsAgent({ maxCachedSessions: 0 });

/** What was judged is what is connected to: the name is not looked up a second time. Node does not ask for a literal address. */
function pinned(targets: readonly Target[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = targets;
    if (all) done(null, [...targets]);
    else if (first) done(null, first.address, first.family);
    else done(new Error('no address'), '');
  };
}
