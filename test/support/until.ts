// Waits for a state that announces itself to nobody: looks again until it holds. A test that can be told of the state waits for that instead.

const FIRST_PAUSE_MS = 2;
/** What takes long is looked at more rarely, so that looking does not take the processor from what is waited for. */
const LONGEST_PAUSE_MS = 50;

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  let ms = FIRST_PAUSE_MS;
  while (!(await holds())) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    ms = Math.min(LONGEST_PAUSE_MS, ms * 1.25);
  }
}
