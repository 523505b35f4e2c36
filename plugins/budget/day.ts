const machine = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The calendar of a time zone; of one that is unknown, this machine's. */
export interface Calendar {
  readonly timeZone: string;
  /** `2026-11-30`. */
  readonly dayOf: (at: number) => string;
}

export function calendarOf(wanted: string | undefined): Calendar {
  const timeZone = wanted !== undefined && isTimeZone(wanted) ? wanted : machine();
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return { timeZone, dayOf: (at) => format.format(at) };
}

export function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false; // a RangeError says just that
  }
}
