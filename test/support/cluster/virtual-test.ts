// Declares a test whose timers and clock are virtual: time passes only when the test advances it.
import type { ExecutionContext } from 'ava';
import test from '../test.js';
import { VirtualTime } from './virtual-time.js';

export function virtualTest(title: string, run: (t: ExecutionContext, time: VirtualTime) => Promise<void>): void {
  test.serial(title, async (t) => {
    const time = new VirtualTime();
    time.install();
    try {
      await run(t, time);
    } finally {
      time.uninstall();
    }
  });
}
