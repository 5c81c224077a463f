// Waiting with an end. Work that is late goes on, and its outcome is dropped. The timers are cleared as soon as they are
// of no use, so that none keeps a process alive.

/** By the global timer, so that a test can replace the clock. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

/** What `work` comes to. When it takes longer than `boundMs`, throws what `late` makes; as words: what took so long. */
export function inTime<T>(work: Promise<T>, boundMs: number, late: string | (() => Error)): Promise<T> {
  return bounded<T, T>(
    work,
    boundMs,
    (result) => result,
    (_, reject) => {
      reject(typeof late === 'string' ? new Error(`${late} took longer than ${boundMs} ms`) : late());
    },
  );
}

/** Resolves when `work` is done or the time is over: whether it is done. Rejects only if the work does before that. */
export function atMost(work: Promise<unknown>, boundMs: number): Promise<boolean> {
  return bounded<unknown, boolean>(
    work,
    boundMs,
    () => true,
    (resolve) => resolve(false),
  );
}

/** One promise: commands wait so by the thousand. */
function bounded<T, R>(
  work: Promise<T>,
  boundMs: number,
  done: (result: T) => R,
  late: (resolve: (result: R) => void, reject: (error: Error) => void) => void,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => late(resolve, reject), Math.max(0, boundMs));
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(done(result));
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
