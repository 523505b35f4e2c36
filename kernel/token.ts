/** Names a service. Compared by `id`: two copies of one contract file name the same thing. `__type` carries the type; never set. */
export type Service<T> = { readonly kind: 'service'; readonly id: string; readonly __type?: T | undefined };
export type HookKind = 'notify' | 'waterfall' | 'bail';
/** Names a hook point: `V` goes in, a tap returns and a call yields `R`. The kind is the contract. */
export type Hook<V, R, K extends HookKind = HookKind> = { readonly kind: K; readonly id: string; readonly __type?: (value: V) => R };

export const service = <T>(id: string): Service<T> => ({ kind: 'service', id });
/** An event. A throwing tap is reported and the rest still run. */
export const notify = <V>(id: string): Hook<V, void, 'notify'> => ({ kind: 'notify', id });
/** Each tap returns the next value. `undefined` is an error, a throw fails the call. */
export const waterfall = <V>(id: string): Hook<V, V, 'waterfall'> => ({ kind: 'waterfall', id });
/** The first defined answer wins. A throw fails the call. */
export const bail = <V, R>(id: string): Hook<V, R | undefined, 'bail'> => ({ kind: 'bail', id });
