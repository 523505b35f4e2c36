import { joinKey } from '../../kernel/index.ts';

interface Written {
  readonly profiles?: Readonly<Record<string, { readonly provider?: unknown } | undefined>>;
  readonly order?: Readonly<Record<string, unknown>>;
}

/** An order that names another provider's profile: its key would go to a stranger. One that nobody knows may have been added by command. */
export function orderFaults(value: unknown) {
  const { profiles = {}, order = {} } = value as Written;
  return Object.entries(order).flatMap(([provider, ids]) =>
    (Array.isArray(ids) ? (ids as readonly unknown[]) : []).flatMap((id, i) => {
      const of = typeof id === 'string' && Object.hasOwn(profiles, id) ? profiles[id]?.provider : undefined;
      if (typeof of !== 'string' || of === provider) return [];
      const message = `auth profile "${String(id)}" is of provider "${of}", whose key ${provider} must not see; name one of ${provider}`;
      return [{ path: `${joinKey('auth.order', provider)}[${i}]`, message }];
    }),
  );
}
