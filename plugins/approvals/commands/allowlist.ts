import { parseArgs } from 'node:util';
import { KernelError } from '../../../kernel/index.ts';
import { bold, byVerb, columns, type CommandHost, dim, exitCodes, misused, plain } from '../../cli/contract.ts';
import type { ExecTest } from '../../tools-exec/contract.ts';
import type { AllowlistEntry } from '../contract.ts';

interface Listed {
  readonly entries: readonly AllowlistEntry[];
  readonly configured: readonly (Partial<AllowlistEntry> & { readonly pattern: string; readonly place: string })[];
  readonly safeBins: readonly string[];
}

/** `instar approvals allowlist <verb>`. */
export const allowlist = byVerb('approvals allowlist', {
  list: async () => ({ run: list }),
  add: async () => ({ run: add }),
  remove: async () => ({ run: remove }),
  test: async () => ({ run: test }),
});

const common = { json: { type: 'boolean' }, agent: { type: 'string' } } as const;

async function list(argv: readonly string[], host: CommandHost): Promise<number> {
  const { values } = parseArgs({ args: [...argv], options: common });
  const listed = await host.ask<Listed>('exec.allowlist', { ...(values.agent && { agent: values.agent }) });
  if (values.json) return print(listed);
  const kept = listed.entries.map((entry) => ({
    label: String(entry.id),
    value: `${lineOf(entry)}  ${dim(`agent ${entry.agent}, by ${plain(entry.by)}, ${new Date(entry.at).toISOString().slice(0, 10)}`)}`,
  }));
  const config = listed.configured.map((entry) => ({ label: 'config', value: `${lineOf(entry)}  ${dim(plain(entry.place))}` }));
  const rows = [...kept, ...config, { label: 'safe bins', value: listed.safeBins.join(', ') || 'none' }];
  console.log(columns(rows));
  return 0;
}

async function add(argv: readonly string[], host: CommandHost): Promise<number> {
  refuseAgents(host);
  const { own, program, args } = splitAdd(argv);
  const { values } = parseArgs({ args: own, options: { ...common, args: { type: 'string' } } });
  if (!program) throw misused('approvals allowlist add needs a program: its name or absolute path, then its arguments');
  const rules = {
    ...(args.length > 0 && { args }),
    ...(values.args !== undefined && { argPattern: values.args }),
    ...(values.agent && { agent: values.agent }),
  };
  const { entry } = await host.ask<{ readonly entry: AllowlistEntry }>('exec.allow', { program, ...rules });
  if (values.json) return print(entry);
  console.log(`added ${entry.id}: ${lineOf(entry)}  ${dim(`agent ${entry.agent}`)}`);
  return 0;
}

/** What follows the program is its own: `add git log --oneline`. Ours come before it; a pattern may begin with `-`. */
function splitAdd(argv: readonly string[]) {
  const own: string[] = [];
  for (let i = 0; i < argv.length; i += 1) {
    const arg = argv[i] ?? '';
    if (!arg.startsWith('-')) return { own, program: arg, args: argv.slice(i + 1) };
    own.push(arg === '--args' || arg === '--agent' ? `${arg}=${argv[((i += 1))] ?? ''}` : arg);
  }
  return { own, program: undefined, args: [] };
}

async function remove(argv: readonly string[], host: CommandHost): Promise<number> {
  refuseAgents(host);
  const { values, positionals } = parseArgs({ args: [...argv], options: common, allowPositionals: true });
  const id = Number(positionals[0] ?? Number.NaN);
  if (!Number.isInteger(id))
    throw misused(
      'approvals allowlist remove needs the number of an entry; "instar approvals allowlist list" shows them. Entries of the config are removed there',
    );
  const { removed } = await host.ask<{ readonly removed: boolean }>('exec.disallow', { id });
  if (!removed)
    throw new KernelError('APPROVAL_UNKNOWN', `there is no entry ${id}; "instar approvals allowlist list" shows those that are there`);
  if (values.json) return print({ removed: id });
  console.log(`removed ${id}`);
  return 0;
}

/** Runs nothing: prints what would be decided, by the code that decides. Exits with 1 where it would not simply run. */
async function test(argv: readonly string[], host: CommandHost): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...argv], options: { ...common, cwd: { type: 'string' } }, allowPositionals: true });
  const command = positionals.join(' ');
  if (!command.trim()) throw misused('approvals allowlist test needs a command, in quotes');
  const answer = await host.ask<ExecTest>('exec.test', {
    command,
    ...(values.cwd && { cwd: values.cwd }),
    ...(values.agent && { agent: values.agent }),
  });
  if (values.json) print(answer);
  else console.log(explained(answer));
  return answer.kind === 'allow' ? 0 : exitCodes.failed;
}

const verdicts = { allow: 'runs unasked', ask: 'is asked for', deny: 'is denied' };

function explained({ kind, why, rule, runs, host, security, ask, agent, parts, shellOnly, always }: ExecTest): string {
  const rows = [
    { label: 'why', value: plain(why) },
    { label: 'rule', value: plain(rule) },
    { label: 'by', value: runs === 'plan' ? 'us, without a shell' : 'bash' },
    { label: 'policy', value: `agent ${agent}: host ${host}, security ${security}, ask ${ask}` },
    ...(shellOnly.length ? [{ label: 'needs a shell', value: plain(shellOnly.join(', ')) }] : []),
    ...(kind === 'ask'
      ? [
          {
            label: '"always"',
            value: always.length ? `would add ${plain(always.map((words) => words.join(' ')).join('; '))}` : 'is not possible',
          },
        ]
      : []),
  ];
  const lines = parts.map(
    (part) =>
      `  ${part.isAllowed ? 'yes' : bold('no ')}  ${plain(part.text)}\n       ${dim(`${part.executable ? `${plain(part.executable)}: ` : ''}${plain(part.why)}`)}`,
  );
  return [bold(verdicts[kind]), columns(rows), ...lines].join('\n');
}

function lineOf({ pattern, args, argPattern, sha256, cwd }: Partial<AllowlistEntry>): string {
  const words = args
    ? args.map((arg) => (/^[^\s"]+$/.test(arg) ? arg : JSON.stringify(arg))).join(' ') || '(without arguments)'
    : argPattern !== undefined
      ? `/${argPattern}/`
      : '(any arguments)';
  return plain(`${pattern ?? ''} ${words}${cwd ? ` in ${cwd}` : ''}${sha256 ? ` (content ${sha256.slice(0, 8)}…)` : ''}`);
}

function refuseAgents({ env }: CommandHost) {
  if (env['INSTAR_EXEC'] !== undefined)
    throw new KernelError('APPROVAL_OWN', 'a command that an agent runs cannot change the allowlist; a person has to');
}

function print(value: unknown): number {
  console.log(JSON.stringify(value));
  return 0;
}
