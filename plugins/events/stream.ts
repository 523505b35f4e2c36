import { randomBytes } from 'node:crypto';
import type { Leasable } from '../../kernel/index.ts';
import type { Events } from './contract.ts';
import type { Published } from './part.ts';
import { Ring, type RingLimits } from './ring.ts';
import { Watcher } from './watcher.ts';

/** One per process: numbers every event, keeps the latest, hands each to those who watch. */
export function openStream(limits: RingLimits, report: (error: unknown) => void): Events & Leasable {
  const boot = randomBytes(5).toString('hex');
  const ring = new Ring(limits);
  const everywhere = new Set<Watcher>();
  const bySession = new Map<string, Set<Watcher>>();
  let count = 0;
  const cursor = (n: number) => `${boot}.${n}`;

  const publish = (event: Published) => {
    const n = ++count;
    ring.add(n, event);
    for (const watcher of everywhere) watcher.push(n, event);
    if (event.sessionKey !== undefined) {
      for (const watcher of bySession.get(event.sessionKey) ?? []) watcher.push(n, event);
    } else {
      for (const watchers of bySession.values()) for (const watcher of watchers) watcher.push(n, event);
    }
  };

  const watch: Events['watch'] = ({ sessionKey, after }, each) => {
    const leave = () => (sessionKey === undefined ? everywhere.delete(watcher) : leaveSession(sessionKey, watcher));
    const watcher = new Watcher((n, event) => each({ cursor: cursor(n), ...event }), limits, { threw: report, gaveUp: leave });
    if (sessionKey === undefined) everywhere.add(watcher);
    else bySession.set(sessionKey, (bySession.get(sessionKey) ?? new Set()).add(watcher));
    const { n: from, view = sessionKey } = after === undefined ? { n: count } : read(after);
    const newest = count;
    if (from < newest) watcher.replay(ring.since(from, (event) => concerns(event, sessionKey)));
    return {
      missed: from < ring.lost(view) || from > newest,
      cursor: cursor(newest),
      stop() {
        leave();
        watcher.stop();
      },
    };
  };

  /** A cursor of another process, or none at all, is from before everything kept here. */
  const read = (text: string) => {
    const [, head, n, view] = /^(\w+)\.(\d+)(?:\.(.+))?$/.exec(text) ?? [];
    return head === boot ? { n: Number(n), view } : { n: Number.POSITIVE_INFINITY };
  };

  const leaveSession = (sessionKey: string, watcher: Watcher) => {
    const watchers = bySession.get(sessionKey);
    watchers?.delete(watcher);
    if (watchers?.size === 0) bySession.delete(sessionKey);
  };

  return {
    publish,
    watch,
    // Whether something is missing after it is judged for this session, whatever else its holder watches.
    settled: (sessionKey) => `${cursor(ring.settled(sessionKey) ?? count)}.${sessionKey}`,
    resume() {}, // holds nothing of the outside world: whoever comes back finds it as it was
    async [Symbol.asyncDispose]() {
      for (const watcher of [...everywhere, ...[...bySession.values()].flatMap((watchers) => [...watchers])]) watcher.stop();
    },
  };
}

const concerns = (event: Published, sessionKey: string | undefined) =>
  sessionKey === undefined || event.sessionKey === undefined || event.sessionKey === sessionKey;
