import type { SandboxSettings } from './contract.ts';

export const insideHome = '/home/agent';

/** Of this machine and its user; they mean nothing inside. */
const ofHost = /^(HOME|USER|LOGNAME|SHELL|TMPDIR|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|XDG_\w+)$/;

/** The variables of a command inside. Those of the launch may come from a model: none of them reaches a program outside. */
export function insideEnv(env: Readonly<Record<string, string>>, { env: own }: SandboxSettings): Readonly<Record<string, string>> {
  const passed = Object.entries(env).filter(([name]) => !ofHost.test(name));
  return { ...Object.fromEntries(passed), HOME: insideHome, USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/sh', TMPDIR: '/tmp', ...own };
}
