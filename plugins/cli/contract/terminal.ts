import { styleText } from 'node:util';

/** Untrusted text as a terminal may show it: nothing in it moves the cursor, colours, or hides what it says. */
export const plain = (text: string) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\u{fffd}');

export const oneLine = (text: string, width = 100) => {
  const line = plain(text.replace(/\s+/g, ' ').trim());
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
};

export const dim = (text: string) => styleText('dim', text);
export const bold = (text: string) => styleText('bold', text);

/** Labels and values in two columns. */
export function columns(rows: readonly { readonly label: string; readonly value: string }[]): string {
  const width = Math.max(0, ...rows.map(({ label }) => label.length));
  return rows.map(({ label, value }) => `  ${dim(label.padEnd(width))}  ${hanging(value, width + 4)}`).join('\n');
}

/** A text that begins at column `indent`: on a terminal, what does not fit goes on below itself. Words stay whole. */
export function hanging(text: string, indent: number, screen: number | undefined = process.stdout.columns): string {
  if (!screen) return text;
  const room = Math.max(screen - indent, 20);
  const lines = text.match(new RegExp(`\\S.{0,${room - 1}}(?!\\S)|\\S+`, 'g')) ?? [];
  return lines.join(`\n${' '.repeat(indent)}`);
}
