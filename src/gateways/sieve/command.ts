// A row of the command table: what `dispatch` must know about a command, and the function that carries it out.
import type { SieveArgument } from './arguments.js';
import type { SieveReply } from './replies.js';
import type { SieveSession, SieveState } from './session.js';

export interface ManageSieveCommand {
  /** Upper case. */
  readonly name: string;
  readonly states: readonly SieveState[];
  readonly takes: readonly SieveArgument['kind'][];
  /** How many of the last arguments may be missing. */
  readonly optional?: number;
  run(session: SieveSession, args: readonly string[]): Promise<SieveReply> | SieveReply;
}
