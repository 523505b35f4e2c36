import { parseArgs } from 'node:util';
import type { Standing } from '../../auth-profiles/contract.ts';
import { bold, columns, dim, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { Plan } from '../contract.ts';
import { secondsOf } from '../seconds.ts';

const options = { json: { type: 'boolean' }, agent: { type: 'string' }, session: { type: 'string' }, model: { type: 'string' } } as const;

/** `instar models explain`: what the next turn would use, and why. Asks no provider anything. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options });
  const { agent, session, model } = values;
  const plan = await host.ask<Plan>('models.explain', {
    ...(agent && { agentId: agent }),
    ...(session && { sessionKey: session }),
    ...(model && { model }),
  });
  console.log(values.json ? JSON.stringify(plan) : shown(plan));
  return plan.next ? 0 : 1;
};

function shown({ agentId, sessionKey, wanted, next, candidates }: Plan): string {
  const facts = [
    { label: 'agent', value: `${agentId}${sessionKey ? dim(` in ${sessionKey}`) : ''}` },
    { label: 'wanted', value: wanted.model },
    { label: 'because', value: oneLine(wanted.why, 400) },
    { label: 'next', value: next ? nextLine(next, wanted.why) : bold('nothing can be asked') },
  ];
  // What is wanted heads the list, and its reason stands above.
  const reasonOf = ({ why, problem }: Plan['candidates'][number]) => problem ?? (why === wanted.why ? '' : why);
  const lines = candidates.flatMap(({ model, profiles, ...reasons }, i) => [
    `  ${i + 1}  ${bold(model)}  ${dim(oneLine(reasonOf({ model, profiles, ...reasons }), 200))}`.trimEnd(),
    ...profiles.map((standing) => `       ${standingLine(standing)}`),
  ]);
  return [columns(facts), '', ...lines].join('\n');
}

const nextLine = ({ model, profile, why }: NonNullable<Plan['next']>, reason: string) =>
  `${bold(model)} as ${bold(profile)}  ${dim(oneLine(why.startsWith(`${reason}; `) ? why.slice(reason.length + 2) : why, 300))}`;

export function standingLine({ profile, usable, readyAt, why }: Standing): string {
  const state = usable ? 'ready' : readyAt === undefined ? bold('unusable') : bold(`ready in ${secondsOf(readyAt - Date.now())}`);
  return `${profile.id}  ${state}  ${dim(oneLine(why, 160))}`;
}
