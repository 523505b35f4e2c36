import type { Run } from '../../kernel/index.ts';
import type { Route } from './contract.ts';

/** The routes of one generation, ready to be asked. */
export interface RouteTable {
  /** The route; or the methods that the path has where this is none of them; undefined for an unknown path. */
  find(method: string, path: string): Route | { readonly allow: string } | undefined;
}

/** Exact paths win over `/*`, longer ones over shorter. The first of two equal ones stays; `clash` is told. */
export function routeTable(routes: readonly Route[], clash: (route: Route) => void): RouteTable {
  const exact = new Map<string, Map<string, Route>>();
  const below = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const all = route.path.endsWith('/*') ? below : exact;
    const path = all === below ? route.path.slice(0, -1) : route.path;
    const methods = all.get(path) ?? new Map<string, Route>();
    if (methods.has(route.method)) clash(route);
    else all.set(path, methods.set(route.method, route));
  }
  const prefixes = [...below].toSorted(([a], [b]) => b.length - a.length);
  return {
    find(method, path) {
      const methods = exact.get(path);
      const asked = method === 'HEAD' ? 'GET' : method;
      if (methods) return methods.get(asked) ?? { allow: [...methods.keys()].join(', ') };
      return prefixes.find(([prefix, has]) => path.startsWith(prefix) && has.has(asked))?.[1].get(asked);
    },
  };
}

/** Computed once per generation, at first use. A failure is not kept. */
export function perGeneration<T>(compute: (run: Run) => Promise<T>): (run: Run) => Promise<T> {
  const kept = new Map<number, Promise<T>>();
  return (run) => {
    const known = kept.get(run.generation);
    if (known) return known;
    const value = compute(run);
    value.catch(() => kept.delete(run.generation));
    const [oldest] = kept.keys();
    if (kept.size > 1 && oldest !== undefined) kept.delete(oldest); // the newest, and the one that drains
    kept.set(run.generation, value);
    return value;
  };
}
