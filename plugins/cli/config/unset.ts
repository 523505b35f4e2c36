import { misused, type RunCommand } from '../contract.ts';
import { readArguments } from './arguments.ts';
import { commit, unchanged } from './commit.ts';
import { placeIn } from './layers.ts';
import { mainFile, openConfig } from './opened.ts';
import { parsePath } from './path.ts';
import { follow, planUnset } from './plan.ts';

/** `instar config unset PATH`. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = readArguments(argv, ['json', 'dry-run', 'show-secrets']);
  const [path, ...more] = positionals;
  if (path === undefined || more.length) throw misused('unset takes one path');
  const { tree, history, change } = openConfig(host);
  const steps = parsePath(path);
  const plan = planUnset(tree, steps);
  if (!plan) return unchanged(mainFile(host), `${path} is not set`, values);
  const code = await commit(change(plan, `unset ${plan.path}`), host, history, values);
  if (!values['dry-run'] && !values.json) tellOfOthers(path, host);
  return code;
};

/** Another file may say it too. */
function tellOfOthers(path: string, host: Parameters<RunCommand>[1]) {
  const { rest, held } = follow(openConfig(host).tree, parsePath(path));
  const other = rest.length === 0 ? held.at(-1) : undefined;
  if (other && !/\[[^\]]*\]$/.test(path)) console.log(`${path} is now what ${placeIn(other.source, other.part.start)} says`);
}
