import { codeTables } from './codes.ts';
import { code, fenced, page, table } from './markdown.ts';

const opening = `# Errors

${fenced('sh', 'instar chat "hello" --agent nobody   # instar: AGENT_UNKNOWN: there is no agent "nobody"; …\necho $?                              # 1')}

Every error has a code, for programs, and a message of one line, for people: what is wrong, where, and what to do. The same code
is in the terminal, in the log (\`instar logs --json\`), in \`{"error": {"code", "message"}}\` of HTTP and WebSocket answers, and on
the page. Codes stay what they are; messages may be reworded.

A plugin keeps its codes in \`plugins/<name>/codes.json\`. A test finds one that is raised without a row, and a row that nothing
raises. Yours needs no table: \`new KernelError('DICE_EMPTY', 'what, where, what to do', { cause })\`.`;

/** `docs/errors.md`. */
export function errorsPage(root: string): string {
  const rows = codeTables(root).toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const cells = rows.map(({ code: name, owner, text }) => {
    const [meaning = '', ...cure] = text.split('; ');
    return [`<a id="${name.toLowerCase()}"></a>${code(name)}`, owner, sentence(meaning), sentence(cure.join('; '))];
  });
  return page(opening, table(['Code', 'Plugin', 'What it means', 'What to do'], cells));
}

/** A first word that is a name, such as approvals.answer, stays as it is. */
const sentence = (text: string) => (/^[a-z']+(?=[ ,:]|$)/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text);
