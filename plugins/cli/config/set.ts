import { misused, type RunCommand } from '../contract.ts';
import { readArguments } from './arguments.ts';
import { commit, unchanged } from './commit.ts';
import { openConfig } from './opened.ts';
import { parsePath } from './path.ts';
import { planSet } from './plan.ts';
import { readSchema, typesAt } from './schema.ts';
import { readValue } from './value.ts';

/** `instar config set PATH VALUE`. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = readArguments(argv, ['string', 'json', 'dry-run', 'show-secrets']);
  const [path, text, ...more] = positionals;
  if (path === undefined || text === undefined) throw misused('set takes a path and a value');
  if (more.length) throw misused('set takes one value; put a value with spaces into quotes');
  const { tree, history, change } = openConfig(host);
  const steps = parsePath(path);
  const types = typesAt(
    readSchema(),
    steps.map(({ key }, i) => keyOrIndex(key, i > 0 && steps[i]?.isBare === true)),
  );
  const plan = planSet(tree, steps, readValue(text, types, values));
  if (plan.after === plan.before) return unchanged(plan.file, `${plan.path} is that already`, values);
  return commit(change(plan, `set ${plan.path}`), host, history, values);
};

/** For the schema one element is like another. */
const keyOrIndex = (key: string, isBare: boolean) => (isBare && !/^\d+$/.test(key) ? '+' : key);
