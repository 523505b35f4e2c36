export const leftBehind = Symbol('left behind');

/**
 * What work comes to; or `leftBehind` where it has not settled `graceMs` after its signal told it to stop. What it does
 * later is nobody's any more.
 */
export async function untilLeft<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T | typeof leftBehind> {
  const gone = Promise.withResolvers<typeof leftBehind>();
  let timer: NodeJS.Timeout | undefined;
  const wait = () => {
    timer = setTimeout(gone.resolve, graceMs, leftBehind);
  };
  if (signal.aborted) wait();
  else signal.addEventListener('abort', wait, { once: true });
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wait);
  }
}
