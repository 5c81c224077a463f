// Waiting for what is to come true by itself, with an end that says what did not.
const FIRST_LOOK_MS = 5;
const LOOK_MS = 50;
/** Of a machine that is busy with other tests; none of what is waited for takes a tenth of it by itself. */
const WITHIN_MS = 60_000;

/** What `holds` comes to as soon as it is true; asking it may fail on the way. @throws when it does not in time */
export async function eventually<T>(what: string, holds: () => T | Promise<T>, withinMs = WITHIN_MS): Promise<T> {
  const deadline = Date.now() + withinMs;
  let pauseMs = FIRST_LOOK_MS;
  let last: unknown;
  for (;;) {
    try {
      const held = await holds();
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
