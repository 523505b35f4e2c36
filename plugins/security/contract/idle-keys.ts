import { joinKey, type JsonSchema, type Values } from '../../../kernel/index.ts';

/** A value of the config that nobody heeds: the plugin it is for is not there. */
export interface IdleKey {
  readonly path: string;
  readonly plugin: string;
  /** Its schema says `x-safety: true`: without its plugin, what it forbids is allowed. */
  readonly isSafety: boolean;
}

interface Owner {
  readonly plugin: string | undefined;
  readonly isSafety: boolean;
}

/** By the published schema, whose `x-plugin` says whose a key is: that of the nearest node above counts. */
export function idleKeys(config: Values, schema: JsonSchema, isLive: (plugin: string) => boolean): readonly IdleKey[] {
  const { plugins: _, ...rest } = config; // what is set aside for a plugin that is off is in its place there
  return keysIn(rest, '', schema, { plugin: undefined, isSafety: false }).flatMap(({ path, plugin, isSafety }) =>
    plugin !== undefined && !isLive(plugin) ? [{ path, plugin, isSafety }] : [],
  );
}

function keysIn(value: unknown, path: string, schema: JsonSchema, above: Owner): readonly (Owner & { readonly path: string })[] {
  const plugin = (schema['x-plugin'] as string | undefined) ?? above.plugin;
  const owner = { plugin, isSafety: above.isSafety || schema['x-safety'] === true };
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const below = inner.flatMap(([key, one]) => {
    const at = nodeAt(schema, key, Array.isArray(value));
    return at ? keysIn(one, joinKey(path, key), at, owner) : [];
  });
  return below.length > 0 || path === '' ? below : [{ path, ...owner }];
}

/** What the schema says of a key; of a choice, the first branch that has it. */
function nodeAt(schema: JsonSchema, key: string, isItem: boolean): JsonSchema | undefined {
  const { properties, additionalProperties, items, anyOf, oneOf } = schema as Readonly<Record<string, unknown>>;
  const own = isItem ? items : ((properties as Values | undefined)?.[key] ?? additionalProperties);
  if (typeof own === 'object' && own !== null) return own as JsonSchema;
  const branches = (anyOf ?? oneOf ?? []) as readonly JsonSchema[];
  return branches.map((branch) => nodeAt(branch, key, isItem)).find((node) => node !== undefined);
}
