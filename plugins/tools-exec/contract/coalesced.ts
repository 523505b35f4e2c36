/** Calls at most once per `ms`, the last state never lost to a call in between. */
export function coalesced(ms: number, work: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined;
        work();
      }, ms);
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
