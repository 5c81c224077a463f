// A command in the table of commands.
import type { Compilation } from '../compilation.js';
import type { Flow, Run } from '../run.js';
import type { Call } from '../syntax.js';

export interface SieveCommand {
  /** One of these extensions must be required. */
  readonly needs?: readonly string[];
  /** Returns what a run does; without a flow, the next command follows. @throws SieveError */
  readonly compile: (call: Call, compilation: Compilation) => (run: Run) => Flow | undefined;
}

export type Commands = Readonly<Record<string, SieveCommand>>;
