import { Worker } from 'node:worker_threads';
import { KernelError } from '../../kernel/index.ts';
import type { PageAsk, PageText } from './readable.ts';

const limitMs = 4_000;
/** A thread that read a page waits so long for the next one: its libraries are loaded. */
const idleMs = 60_000;

/** HTML → text. One page at a time; a page that is too much for it costs the thread, and only that. */
export interface PageReader extends AsyncDisposable {
  read(ask: PageAsk, signal: AbortSignal): Promise<PageText>;
}

/** Pages are read in a thread of its own: a hostile one may take all the time and memory that it finds. */
export function openPageReader(): PageReader {
  let warm: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const end = async () => {
    clearTimeout(idle);
    const worker = warm;
    warm = undefined;
    await worker?.terminate();
  };

  function begin(): Worker {
    const worker = new Worker(new URL('./readable.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 512 } });
    const forget = () => void (warm = warm === worker ? undefined : warm);
    return worker.on('error', forget).on('exit', forget); // it may also end while nobody asks
  }

  async function readNow(ask: PageAsk, signal: AbortSignal): Promise<PageText> {
    signal.throwIfAborted();
    clearTimeout(idle);
    const worker = (warm ??= begin());
    try {
      return await answerOf(worker, ask, signal);
    } catch (cause) {
      await end();
      throw cause;
    } finally {
      warm?.unref();
      idle = setTimeout(() => void end(), idleMs);
      idle.unref();
    }
  }

  return {
    read(ask, signal) {
      const mine = queue.then(() => readNow(ask, signal));
      queue = mine.catch(() => {}); // its asker hears of it
      const left = Promise.withResolvers<never>();
      const leave = () => left.reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      return Promise.race([mine, left.promise]).finally(() => signal.removeEventListener('abort', leave));
    },
    [Symbol.asyncDispose]: end,
  };
}

async function answerOf(worker: Worker, ask: PageAsk, signal: AbortSignal): Promise<PageText> {
  const settled = Promise.withResolvers<PageText>();
  const fail = (why: string) => (cause?: unknown) => settled.reject(new KernelError('FETCH_TYPE', why, { cause }));
  const [tooLarge, gone] = [fail('the page is too large or too deep to be read'), fail('the page could not be read')];
  const stop = () => settled.reject(signal.reason);
  const timer = setTimeout(fail(`the page took more than ${limitMs / 1000} s to be read`), limitMs);
  const on = { message: settled.resolve, error: tooLarge, messageerror: gone, exit: () => gone() };
  for (const [event, listener] of Object.entries(on)) worker.on(event, listener as () => void);
  signal.addEventListener('abort', stop, { once: true });
  worker.ref();
  worker.postMessage(ask);
  return settled.promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    for (const [event, listener] of Object.entries(on)) worker.off(event, listener as () => void);
  });
}
