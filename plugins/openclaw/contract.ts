type Values = Readonly<Record<string, unknown>>;

/**
 * Whether a config is OpenClaw's: its `compat` says so (`openclaw`, or `none` against it), else the name of its file, else the
 * stamp that OpenClaw leaves in what it writes. Asked of the text's values.
 */
export function isOpenClaw(file: string | undefined, { compat, meta }: Values): boolean {
  if (compat === 'openclaw' || compat === 'none') return compat === 'openclaw';
  if (/(^|[\\/])openclaw\.json5?$/i.test(file ?? '')) return true;
  return typeof (meta as Values | null | undefined)?.['lastTouchedVersion'] === 'string';
}

/** Of OpenClaw's `plugins`, what has a meaning here: our own keys, and by name the switch and the settings. Anything malformed stays, for the check. */
export function ourPlugins(plugins: unknown): unknown {
  if (!isMap(plugins) || !isMap(plugins['entries'] ?? {})) return plugins;
  const { paths = [], packages = [], entries = {} } = plugins;
  const named = Object.entries(entries as Values).flatMap(([name, one]) => {
    return isMap(one) ? [[name, { enabled: one['enabled'] ?? true, config: one['config'] }]] : [];
  });
  return { paths, packages, entries: Object.fromEntries(named) };
}

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);
