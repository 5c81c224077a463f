// Waits for a state that announces itself to nobody: looks again until it holds. A test that can be told of the state waits for that instead.
import { patiently } from './patience.js';

const FIRST_PAUSE_MS = 2;
/** What takes long is looked at more rarely, so that looking does not take the processor from what is waited for. */
const LONGEST_PAUSE_MS = 50;

/** @throws after five minutes, with the text of `holds` */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  let isOver = false;
  const look = async () => {
    for (let ms = FIRST_PAUSE_MS; !(await holds()) && !isOver; ms = Math.min(LONGEST_PAUSE_MS, ms * 1.25)) {
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  };
  try {
    await patiently(look(), () => String(holds));
  } finally {
    isOver = true;
  }
}
