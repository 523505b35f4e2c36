const longest = 80;

/** How a session is called whose first words these are: one line of them, and no letter of it in half. */
export const titleFrom = (text: string): string =>
  text
    .trim()
    .replace(/\s+/g, ' ')
    .slice(0, longest)
    .replace(/[\ud800-\udbff]$/, '');
