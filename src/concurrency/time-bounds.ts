// Waiting with a time limit. Late work continues, and its outcome is dropped. Timers are cleared as soon as they are useless, so that none
// keeps a process alive.

/** Uses the global timer, so that a test can replace the clock. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

/** Returns the result of `work`. After `boundMs`, throws the error that `late` makes, or one that names `late` as what took too long. */
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

/** Resolves when `work` is done or the time is over, with whether it is done. Rejects only if `work` rejects in time. */
export function atMost(work: Promise<unknown>, boundMs: number): Promise<boolean> {
  return bounded<unknown, boolean>(
    work,
    boundMs,
    () => true,
    (resolve) => resolve(false),
  );
}

/** Makes only one promise, because thousands of commands wait this way. */
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
