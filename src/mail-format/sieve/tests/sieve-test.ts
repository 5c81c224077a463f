// A test in the table of tests.
import type { Compilation } from '../compilation.js';
import type { Check } from '../run.js';
import type { Call } from '../syntax.js';

interface SieveTest {
  /** One of these extensions must be required. */
  readonly needs?: readonly string[];
  /** The test takes others. */
  readonly takesTests?: true;
  /** @throws SieveError */
  readonly compile: (call: Call, compilation: Compilation) => Check;
}

export type SieveTests = Readonly<Record<string, SieveTest>>;
