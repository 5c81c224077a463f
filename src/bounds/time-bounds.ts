// Waiting with an end. Work that is late goes on, and its outcome is dropped. The timers are cleared as soon as they are
// of no use, so that none keeps a process alive.

/** By the global timer, so that a test can replace the clock. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What `work` comes to. When it takes longer than `boundMs`, throws what `late` makes; as words: what took so long. */
export async function inTime<T>(work: Promise<T>, boundMs: number, late: string | (() => Error)): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    const end = () => reject(typeof late === 'string' ? new Error(`${late} took longer than ${boundMs} ms`) : late());
    timer = setTimeout(end, boundMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when `work` is done or the time is over: whether it is done. Rejects only if the work does before that. */
export async function atMost(work: Promise<unknown>, boundMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, boundMs));
  });
  try {
    return await Promise.race([work.then(() => true), over]);
  } finally {
    clearTimeout(timer);
  }
}
