/** Tells the first, and of those that follow the 10th, the 100th and so on: what fails for ever must not fill the log. */
export function openRepeats(most = 500) {
  const counts = new Map<string, number>();
  /** How often it was seen, where that should be told. */
  return (key: string): number | undefined => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.delete(key);
    counts.set(key, count);
    const [oldest] = counts.keys();
    if (counts.size > most && oldest !== undefined) counts.delete(oldest);
    return /^10*$/.test(String(count)) ? count : undefined;
  };
}
