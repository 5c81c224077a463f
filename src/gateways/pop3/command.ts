// A row of the command table: what `dispatch` must know of a command, and how the command is carried out.
import type { Reply } from './replies.js';
import type { Session, SessionState } from './session.js';

export interface Command {
  /** Upper case. */
  readonly name: string;
  readonly states: readonly SessionState[];
  /** How many arguments there may be; `text`: one, which may have spaces. */
  readonly takes: readonly [least: number, most: number] | 'text';
  /** Undefined when the command has written its reply, which was +OK. */
  run(session: Session, args: readonly string[]): Promise<Reply | undefined> | Reply;
}
