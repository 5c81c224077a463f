// A compiled script: closures that the interpreter calls with the state of a run.
import type { Run } from './run.js';

/** What follows a command: the next one, the end of the script that includes this one (`return`), or the end of all. */
export type Flow = 'next' | 'return' | 'stop';

export type Step = (run: Run) => Flow;
export type Check = (run: Run) => boolean;

export interface SieveScript {
  readonly steps: readonly Step[];
  /** The extensions that the script requires. */
  readonly extensions: ReadonlySet<string>;
  /** Whether the script looks at the body of the message. */
  readonly readsBody: boolean;
  /** The scripts that it includes. */
  readonly includes: readonly SieveInclude[];
}

export interface SieveInclude {
  readonly location: 'personal' | 'global';
  readonly name: string;
}

/** Runs commands in order until one does not lead to the next. */
export function runSteps(steps: readonly Step[], run: Run): Flow {
  for (const step of steps) {
    const flow = step(run);
    if (flow !== 'next') return flow;
  }
  return 'next';
}
