/** A part of a generated page that another script writes: between two marks, kept as it is by all others. */
const marks = (name: string) => [`<!-- ${name} -->`, `<!-- /${name} -->`] as const;

export function sectionOf(page: string, name: string): string {
  const [from, to] = marks(name);
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  return start < 0 || end < start ? `${from}\n${to}` : page.slice(start, end + to.length);
}

export function keepSection(page: string, name: string, text: string): string {
  const [from, to] = marks(name);
  const old = sectionOf(page, name);
  const made = `${from}\n\n${text}\n\n${to}`;
  return page.includes(old) ? page.replace(old, () => made) : `${page.trimEnd()}\n\n${made}\n`;
}
