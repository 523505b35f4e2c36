import type { Host } from '../../../kernel/index.ts';
import type { Finding, Severity } from '../contract.ts';

/** What is lost without a plugin that guards. Each fails closed; a plugin of somebody else may be what opens it again. */
const guards: readonly (readonly [plugin: string, severity: Severity, without: string])[] = [
  ['policy', 'warning', 'no rule of tools counts: calls are denied unless another plugin allows them'],
  ['approvals', 'note', 'nobody can be asked: what needs an approval is denied'],
  ['sandbox', 'note', 'sessions that are to be sandboxed run nothing'],
  ['fetch', 'note', 'no tool fetches an address'],
];

/** Guards that are not part of the generation, switched off or left out. */
export function guardFindings(host: Host): readonly Finding[] {
  const { instances, leftOut } = host.inspect();
  const isLive = (name: string) => instances.some(({ plugin }) => plugin === name);
  return guards
    .filter(([name]) => !isLive(name))
    .map(([name, severity, without]) => {
      const why = leftOut.find(({ plugin }) => plugin === name)?.why;
      return {
        severity,
        code: 'guard-off',
        path: `plugins.entries.${name}.enabled`,
        message: `plugin "${name}" is ${why ? `left out (${why})` : 'off'}: ${without}`,
        mend: why ? `instar plugins inspect ${name}` : `instar plugins enable ${name}`,
      };
    });
}
