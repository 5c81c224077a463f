// Waits until a condition becomes true, and names it in the error when it does not.
import { patiently } from '../../../support/patience.js';

const FIRST_LOOK_MS = 5;
const LOOK_MS = 100;
/** A machine that is busy with other tests may need this long; on an idle one no wait takes a tenth of it. */
const WITHIN_MS = 180_000;

/** Returns the value of `holds` as soon as it is truthy; errors meanwhile are ignored. @throws when the time is over */
export async function eventually<T>(what: string, holds: () => T | Promise<T>, withinMs = WITHIN_MS): Promise<T> {
  const deadline = Date.now() + withinMs;
  let pauseMs = FIRST_LOOK_MS;
  let last: unknown;
  for (;;) {
    try {
      // A look that hangs is given up at the end too.
      const held = await patiently(Promise.resolve(holds()), () => what, Math.max(1, deadline - Date.now()));
      if (held) return held;
      last = held;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}: ${last}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(2 * pauseMs, LOOK_MS);
  }
}
