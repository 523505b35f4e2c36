import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** Names this process for one renewal, so that another can tell whether it still lives. */
export const newHolder = (): string => `${hostname()} ${process.pid} ${randomUUID()}`;

/** True only where that is sure: of a process on another machine, or of a form unknown here, only its time tells. */
export function isGone(holder: string): boolean {
  const [host, pid] = holder.split(' ');
  if (host !== hostname() || !/^\d+$/.test(pid ?? '')) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
