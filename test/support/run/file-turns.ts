// Test files that share a process take turns: AVA calls all their tests at once, and those of a file wait until the previous files have
// ended, so that tests of other files delay no test. Within a file, serial tests run first, one after the other, then all others at once,
// as in AVA. AVA's durations include the wait; the run shows those that are measured here.
import { appendFileSync } from 'node:fs';

/**
 * The environment variable with the name of a file, to which the duration of each finished test is appended: ms, a space, the title, one
 * line each.
 */
export const TEST_TIMES = 'TEST_TIMES';

interface Waiting {
  readonly file: string;
  readonly isSerial: boolean;
  run(): Promise<void>;
}

let waiting: Waiting[] = [];
let areTurnsTaken = false;

export function inTurn(file: string, title: string, isSerial: boolean, test: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const run = async () => {
      const began = performance.now();
      // Only AVA learns that a test failed; the file continues.
      const result = await test().then(
        (value) => () => resolve(value),
        (error) => () => reject(error),
      );
      const times = process.env[TEST_TIMES];
      if (times !== undefined) appendFileSync(times, `${Math.round(performance.now() - began)} ${title}\n`);
      result();
    };
    waiting.push({ file, isSerial, run });
    void takeTurns();
  });
}

/** Starts when AVA has called all tests that it runs: AVA does so without waiting for any of them. */
async function takeTurns(): Promise<void> {
  if (areTurnsTaken) return;
  areTurnsTaken = true;
  await new Promise((resolve) => setImmediate(resolve));
  while (waiting.length > 0) {
    const { file } = waiting[0]!;
    const tests = waiting.filter((test) => test.file === file);
    waiting = waiting.filter((test) => test.file !== file);
    for (const test of tests) if (test.isSerial) await test.run();
    await Promise.all(tests.filter(({ isSerial }) => !isSerial).map((test) => test.run()));
  }
  areTurnsTaken = false;
}
