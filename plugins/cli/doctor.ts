import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { messageOf } from '../../kernel/index.ts';
import { exitCodes, type CommandHost, type RunCommand } from './contract.ts';
import { faultText } from './fault-lines.ts';
import { findGateway, isAlive, reach } from './reach.ts';
import { isPresent } from '../faults/contract.ts';
import type { Audit } from '../security/contract.ts';
import type { Status } from './status.ts';
import { bold, dim, hanging, oneLine } from './contract/terminal.ts';

interface Finding {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly what: string;
  /** What was found, and what to do where it is not well. */
  readonly text: string;
}

type Check = (host: CommandHost) => readonly Finding[] | Promise<readonly Finding[]>;

/** `instar doctor`: each finding with what to do about it; exits with 1 where something fails. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } } });
  const findings: Finding[] = [];
  for (const [what, check] of Object.entries(checks)) {
    const found = await Promise.try(check, host).catch((cause) => failures(what, cause));
    if (!values.json) for (const one of found) console.log(lineOf(one));
    findings.push(...found);
  }
  if (values.json) console.log(JSON.stringify(findings));
  return findings.some(({ state }) => state === 'fail') ? exitCodes.failed : 0;
};

const finding = (state: Finding['state'], what: string, text: string): Finding => ({ state, what, text });

/** A boot that failed has a line per fault. */
const failures = (what: string, cause: unknown) =>
  messageOf(cause)
    .split('\n')
    .map((line) => finding('fail', what, line));

const lineOf = ({ state, what, text }: Finding) =>
  `${state === 'ok' ? dim(state.padEnd(4)) : bold(state.padEnd(4))}  ${what.padEnd(8)}  ${hanging(oneLine(text, 400), 16)}`;

const checks: Readonly<Record<string, Check>> = {
  node: () => [finding('ok', 'node', process.version)],
  home: ({ home }) => {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    accessSync(home, constants.W_OK);
    const open = (statSync(home).mode & 0o077) !== 0;
    const mend = `${home} can be read by others of this machine; run "chmod 700 ${home}"`;
    return [open ? finding('warn', 'home', mend) : finding('ok', 'home', home)];
  },
  async config({ configFile, env, readConfig }) {
    if (!configFile) return [finding('ok', 'config', 'none: everything has its default')];
    const { problems, place } = await readConfig(configFile, env);
    if (problems.length === 0) return [finding('ok', 'config', configFile)];
    return problems.map(({ path, message }) => finding('fail', 'config', `${place(path)} ${path}: ${message}`));
  },
  async lock({ home, readHolder }) {
    const holder = await readHolder(home);
    if (!holder) return [finding('ok', 'lock', 'free: no gateway runs')];
    const { pid, mode, started } = holder;
    if (isAlive(pid)) return [finding('ok', 'lock', `held by a ${mode} (pid ${pid}, since ${started})`)];
    return [finding('warn', 'lock', `process ${pid} ended without a goodbye; the next start takes over by itself`)];
  },
  async port(host) {
    const found = await findGateway(host);
    found?.client.close();
    return [found ? finding('ok', 'port', `the gateway answers at ${found.client.url}`) : await portFree(await wantedPort(host))];
  },
  /** Only a generation knows whether every plugin is content with its config: ask the running one, else build one. */
  async plugins(host) {
    const { client, leave } = await reach(host);
    const { inspection, report } = await client.call<Status>('status');
    const audit = await client.call<Audit>('security.audit').catch(() => undefined); // the plugin may be off
    const { faults } = await client.call<Pick<Status, 'faults'>>('plugins.faults').catch(() => ({ faults: [] })); // so may that
    await leave();
    const since = new Map(inspection.instances.map((one) => [one.plugin, one.since]));
    const present = faults.filter((fault) => isPresent(fault, since.get(fault.plugin)));
    const live = finding('ok', 'plugins', `${inspection.instances.length} are live`);
    const left = inspection.leftOut.map(({ plugin, code, why }) => finding('warn', 'plugins', `${plugin} is left out: ${code}: ${why}`));
    const model = report.find(({ label }) => label === 'model');
    const isReal = model && /^(?!demo\/)[\w.-]+\/\S/.test(model.value);
    const policy = report.filter(({ label }) => label === 'policy').map(({ value }) => finding('warn', 'policy', value));
    return [
      live,
      ...left,
      ...present.map((fault) => finding('warn', 'plugins', `${fault.plugin}: ${faultText(fault)}`)),
      ...policy,
      ...(model ? [finding(isReal ? 'ok' : 'warn', 'model', model.value)] : []),
      ...(audit ? [secured(audit)] : []),
    ];
  },
};

function secured({ counts: { severe, warning, note } }: Audit): Finding {
  const notes = note ? `; "instar security audit" has ${note} ${note === 1 ? 'note' : 'notes'}` : '';
  if (severe + warning === 0) return finding('ok', 'security', `nothing is open to others${notes}`);
  const found = `${severe} severe, ${warning} ${warning === 1 ? 'warning' : 'warnings'}`;
  return finding('warn', 'security', `${found}; "instar security audit" shows what, and what mends it`);
}

async function wantedPort({ configFile, env, readConfig }: CommandHost): Promise<number> {
  const { values } = await readConfig(configFile, env);
  const { port } = (values.gateway ?? {}) as { port?: unknown };
  return typeof port === 'number' ? port : 18_789;
}

function portFree(port: number): Promise<Finding> {
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const server = createServer();
  const mend = `another program listens on 127.0.0.1:${port}; find it with "lsof -i :${port}", or set gateway.port`;
  server.once('error', (cause: NodeJS.ErrnoException) => {
    resolve(finding('fail', 'port', cause.code === 'EADDRINUSE' ? mend : messageOf(cause)));
  });
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(finding('ok', 'port', `127.0.0.1:${port} is free`))));
  return promise;
}
