/** What a command may know of the gateway's environment: enough to find programs and to write to a person's terminal. */
const kept = new Set(
  [
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM NO_COLOR TZ TMPDIR',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS',
    'XDG_RUNTIME_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME',
  ].flatMap((names) => names.split(' ')),
);

const secretName = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH/i;
/** A user or password inside an address, as proxies carry them: with any scheme, and with none. */
const secretValue = /^(?:[a-z][a-z\d+.-]*:\/\/[^/\s]*@|[^/\s]*:[^/\s]*@)/i;

/** The environment of every command: named variables only, and none that is or holds a secret. */
export function scrubbed(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const passed = Object.entries(env).filter(
    ([name, value]) =>
      value !== undefined && (kept.has(name) || name.startsWith('LC_')) && !secretName.test(name) && !secretValue.test(value),
  );
  return { PATH: '/usr/local/bin:/usr/bin:/bin', ...(Object.fromEntries(passed) as Record<string, string>) };
}
