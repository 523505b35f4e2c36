import type { VitalsReading } from '../vitals/contract.ts';

const windowsShown = 6;

/** How large and how busy the gateway is, for `instar status`: of the last minute, or since its start where that is shorter. */
export function vitalsLines({ memory, loop, windows }: VitalsReading): readonly { readonly label: string; readonly value: string }[] {
  const last = windows.slice(-windowsShown);
  const most = (of: 'p50' | 'p99' | 'max') => Math.max(...last.map((window) => window.loop[of]));
  const { p50, p99, max } = last.length ? { p50: most('p50'), p99: most('p99'), max: most('max') } : loop;
  const when = last.length ? 'worst 10 s of the last minute' : 'since the start';
  return [
    { label: 'memory', value: `${mb(memory.rss)}, ${mb(memory.heapUsed)} of it heap` },
    { label: 'event loop', value: `${ms(p50)} late at the median, ${ms(p99)} at p99, ${ms(max)} at most (${when})` },
    ...(last.length ? [{ label: 'processor', value: shares(last) }] : []),
  ];
}

function shares(last: VitalsReading['windows']): string {
  const sum = (of: 'ms' | 'cpuMs' | 'waitedMs') => last.reduce((all, window) => all + (window[of] ?? 0), 0);
  const share = (of: 'cpuMs' | 'waitedMs') => Math.round((100 * sum(of)) / sum('ms'));
  const waited = share('waitedMs');
  return `${share('cpuMs')} % of a core${waited >= 5 ? `; other processes kept it waiting for ${waited} % of the time` : ''}`;
}

const ms = (value: number) => `${value < 10 ? value : Math.round(value)} ms`;
const mb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;
