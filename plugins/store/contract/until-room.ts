/** Milliseconds between two tries; later ones are 15 s apart. */
const waits = [100, 1_000, 5_000];

export interface Patience {
  /** Whether an error is one that passes by itself, such as a full disk; any other is thrown. */
  readonly passes: (error: unknown) => boolean;
  /** When it aborts there is one last try. */
  readonly signal: () => AbortSignal;
  /** Is told of each try that failed, and how many there were before it. */
  readonly failed: (error: unknown, tried: number) => void;
}

/** Writes what has happened already, and so cannot be taken back: again and again, until there is room. */
export async function untilThereIsRoom<T>(write: () => Promise<T>, { passes, signal, failed }: Patience): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await write();
    } catch (error) {
      if (!passes(error) || signal().aborted) throw error;
      failed(error, tried);
    }
    await pause(waits[tried] ?? 15_000, signal());
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
