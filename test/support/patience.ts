// Bounds waits for what comes from outside of a test: a test that waits in vain fails and says for what, instead of holding up the whole run.

/** In ms: longer than anything takes on a busy machine, and shorter than AVA waits for the next result of a run. */
const PATIENCE_MS = 300_000;

// The timers of the process, also in a test that replaces them.
const { setTimeout: startTimer, clearTimeout: endTimer } = globalThis;

/** Resolves like the promise. @throws after `ms`, with what was waited for */
export async function patiently<T>(waiting: Promise<T>, what: () => string, ms = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = startTimer(() => reject(new Error(`waited ${ms} ms in vain for ${what()}`)), ms).unref();
  });
  try {
    return await Promise.race([waiting, over]);
  } finally {
    endTimer(timer);
  }
}
