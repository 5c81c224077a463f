// Loaded before every test file: a process whose tests have all ended must end by itself. What keeps it alive, such as a server that a
// failed test has not stopped, would otherwise stop the whole run: AVA waits for the process. It also ends when AVA tells it to.
import { registerCompletionHandler } from 'ava';

/** The environment variable with the time in ms that a process has for its end. */
export const END_MS = 'TEST_END_MS';

registerCompletionHandler(() => {
  const ms = Number(process.env[END_MS] ?? 60_000);
  // The timer itself keeps no process alive.
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(
      `All tests of this process have ended ${ms / 1_000} s ago, and it does not end: ${resources}\n`,
    );
    process.exit(1);
  }, ms).unref();
});

// Playwright's handler of the signal closes its browser alone. At an exit it kills the browser, and removes its folder.
process.once('SIGTERM', () => process.exit(143));
