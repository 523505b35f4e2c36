/** What a file says of itself: its title and the first paragraph under it. Nothing is made up. */
export function summaryOf(name: string, text: string): string {
  const lines = text.trimEnd().split('\n');
  const size = `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
  if (text.trim() === '') return `${name} is empty.`;
  const fields = jsonFields(text);
  if (fields) return `${name} is JSON (${size}) with ${fields}.`;
  const title = lines
    .find((line) => /^#{1,6}\s+\S/.test(line))
    ?.replace(/^#+\s+/, '')
    .replace(/\s*#*$/, '');
  const paragraph = firstParagraph(lines);
  const named = title ? `${name} (${size}) is titled "${shorten(title, 120)}".` : `${name} has ${size}.`;
  return paragraph ? `${named} It begins:\n\n> ${shorten(paragraph, 400)}` : named;
}

function firstParagraph(lines: readonly string[]): string {
  const isProse = (line: string) => line.trim() !== '' && !/^\s*(?:#|!\[|\[!\[|<|```|---|===|\|)/.test(line);
  const start = lines.findIndex(isProse);
  if (start < 0) return '';
  const rest = lines.slice(start);
  const end = rest.findIndex((line) => !isProse(line));
  return rest
    .slice(0, end < 0 ? rest.length : end)
    .map((line) => line.trim())
    .join(' ');
}

function jsonFields(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) return `${value.length} entries`;
    const said = ['name', 'description'].flatMap((key) => {
      const field = (value as Readonly<Record<string, unknown>>)[key];
      return typeof field === 'string' ? `${key} "${shorten(field, 200)}"` : [];
    });
    return [...said, `the keys ${shorten(Object.keys(value).join(', '), 200)}`].join(', ');
  } catch {
    // Not JSON: it is read as text.
    return undefined;
  }
}

const shorten = (text: string, limit: number) => (text.length > limit ? `${text.slice(0, limit - 1).trimEnd()}…` : text);
