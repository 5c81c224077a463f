// Sieve (RFC 5228): a script is compiled once, and runs on the facts of a message. Pure: its actions are a value, and the caller carries them
// out. Time and memory of a run are bounded (limits.ts).
import type { SieveResult } from './actions.js';
import { SIEVE_BOUNDS, type SieveBounds } from './limits.js';
import type { SieveMessage } from './message.js';
import { Run, runSteps, type SieveEnvironment, type SieveScript } from './run.js';
import { SieveError } from './syntax.js';

export { compileSieve } from './compile.js';
export { SIEVE_EXTENSIONS, SIEVE_REDIRECTS } from './extensions.js';

/** Never throws for what a script does: a fault of the run keeps the message as it came (RFC 5228 §2.10.6). */
export function runSieve(
  script: SieveScript,
  message: SieveMessage,
  environment: SieveEnvironment,
  bounds: SieveBounds = SIEVE_BOUNDS,
): SieveResult {
  const run = new Run(message, environment, bounds);
  try {
    runSteps(script.steps, run);
  } catch (error) {
    if (!(error instanceof SieveError)) throw error;
    return { actions: [{ type: 'keep', isImplicit: true, flags: [] }], tracked: [], fault: error.fault };
  }
  if (run.isImplicitKeep) run.store({ type: 'keep', isImplicit: true, flags: run.flags, edit: run.header.edit });
  return { actions: run.actions, tracked: run.tracked, fault: undefined };
}
