import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pluginsSchema } from '../../kernel/host/discovery.ts';
import { pathOf } from '../../kernel/host/ownership.ts';
import type { Plugin } from '../../kernel/index.ts';
import { exampleFinder } from './examples.ts';
import { dependentsOf, type Key, keysOf, typeText } from './keys.ts';
import { code, fenced, json5, listed, page, prose, table } from './markdown.ts';

const opening = (example: string) => `# Config

${fenced('json5', example)}

That is [examples/first-config.json5](../examples/first-config.json5); \`instar start --config examples/first-config.json5\` runs
it. Without \`--config\` and \`INSTAR_CONFIG\` the file is \`~/.instar/instar.json5\`. It is JSON5: comments, trailing commas and bare
keys are fine. \`\${VARIABLE}\` in a text is taken from the environment or from \`.env\` beside the state, and \`$include: "./agents.json5"\`
puts another file in its place. No key is required.

**An edit is live when it is saved.** It rebuilds the plugin that owns the place, and those that need it; all others, and every
connection, stay. A key that another plugin *reads late* does not rebuild that plugin: it asks at its next use. A faulty edit
changes nothing and is named with file, line and column; see [hot reload](hot-reload.md).

In a path, \`[]\` is each entry of a list and \`<name>\` a name of your choice.`;

/** `docs/config.md`. */
export function configPage(root: string, plugins: readonly Plugin[]): string {
  const example = exampleFinder(root);
  const owners = plugins.filter(({ config }) => config?.at).toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  const tops = Map.groupBy(owners, (owner) => pathOf(owner).split('.')[0] ?? '');
  const index = [...tops].map(([top, [first]]) => [`[${code(top)}](#${top.toLowerCase()})`, first?.description ?? '']);
  const sections = [...tops].flatMap(([top, several]) => [
    `## ${top}`,
    ...several.map((owner) => place(owner, plugins, example, pathOf(owner) !== top)),
  ]);
  const first = readFileSync(join(root, 'examples/first-config.json5'), 'utf8');
  const rest = [
    ['[`plugins`](#plugins)', 'Which plugins run, and the config of those without a place of their own'],
    ['`$schema`', 'For editors; nothing is rebuilt'],
  ];
  return page(opening(first), table(['Key', 'What it is about'], [...index, ...rest]), ...sections, pluginsSection(plugins, example));
}

type FindExample = ReturnType<typeof exampleFinder>;

/** What one plugin owns. */
function place(owner: Plugin, plugins: readonly Plugin[], example: FindExample, isBelow: boolean): string {
  const at = pathOf(owner);
  const dependents = dependentsOf(owner.name, plugins);
  const after = dependents.length ? `, then what needs it: ${listed(dependents)}` : '; nothing needs it';
  const effect = `Owned by plugin ${code(owner.name)} (${owner.description}). An edit rebuilds ${code(owner.name)}${after}.`;
  const head = isBelow ? [`### ${code(at)}`] : [];
  const schema = owner.config?.schema ?? {};
  const whole = schema['type'] === 'object' ? [] : [{ path: at, schema, plugin: owner.name }];
  return [...head, effect, keysTable([...whole, ...keysOf(owner, plugins)], owner.name, example)].join('\n\n');
}

function keysTable(keys: readonly Key[], owner: string, example: FindExample): string {
  const effect = (plugin: string) =>
    plugin === owner ? `${code(owner)} is rebuilt` : `${code(owner)} is rebuilt; ${code(plugin)} reads it late`;
  const merged = Map.groupBy(keys, (key) =>
    [key.path.split(/\.|\[\]/).at(-1), key.plugin, JSON.stringify(key.schema), twin(key.path)].join(),
  );
  const rows = [...merged.values()].flatMap(([key, ...same]) =>
    key
      ? [
          [
            [key, ...same].map(({ path }) => code(path)).join('<br>'),
            typeText(key.schema),
            usual(key),
            about(key, example),
            effect(key.plugin),
          ],
        ]
      : [],
  );
  return table(['Key', 'Type', 'Default', 'What it does', 'An edit'], rows);
}

/** What an agent and the defaults share is told once, under both paths. */
const twin = (path: string) => path.replace(/^agents\.(?:defaults|list\[\])\./, 'agents..');

/** What counts where nobody sets it; `x-default` is one that another place may set first. */
function usual({ schema: { default: value, 'x-default': last = value } }: Key): string {
  return last === undefined || json5(last) === '{}' ? '' : code(json5(last));
}

function about(key: Key, example: FindExample): string {
  const { description = '' } = key.schema as { readonly description?: string };
  const said = prose(description).replace(/([^.!?…])$/, '$1.');
  const isShown = /\be\.g\.|\bsuch as\b|^Refused/i.test(description);
  const value = isShown ? undefined : example(key);
  return value === undefined ? said : `${said} E.g. ${code(json5(value))}`;
}

function pluginsSection(plugins: readonly Plugin[], example: FindExample): string {
  const { paths, packages } = pluginsSchema.properties;
  const follow = 'plugins come and go; those that need them follow';
  const rows = [
    [code('plugins.paths'), 'list of string', '', `${paths.description}. E.g. ${code('["./my-plugins"]')}`, follow],
    [code('plugins.packages'), 'list of string', '', `${packages.description}. E.g. ${code('["instar-plugin-dice"]')}`, follow],
    [code('plugins.entries.<name>.enabled'), 'boolean', code('true'), `\`false\` switches the plugin off. E.g. ${code('false')}`, follow],
    [
      code('plugins.entries.<name>.config'),
      'object',
      '',
      "What the plugin's own schema says, where it owns no other place. E.g. `{}`",
      'that plugin is rebuilt',
    ],
  ];
  const own = plugins.filter(({ config }) => config && !config.at).map((owner) => place(owner, plugins, example, true));
  const known = `Bundled plugins: ${listed(plugins.map(({ name }) => name))}.`;
  return ['## plugins', known, table(['Key', 'Type', 'Default', 'What it does', 'An edit'], rows), ...own].join('\n\n');
}

/** Keys that say nothing of themselves. */
export const undescribed = (plugins: readonly Plugin[]) =>
  plugins
    .filter(({ config }) => config)
    .flatMap((owner) => keysOf(owner, plugins))
    .filter(({ schema }) => !schema['description'])
    .map(({ path, plugin }) => `${path}: plugin "${plugin}" gives it no description`);
