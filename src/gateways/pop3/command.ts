// A row of the command table: what `dispatch` must know of a command, and how the command is carried out.
import type { Pop3Reply } from './replies.js';
import type { Pop3Session, Pop3State } from './session.js';

export interface Pop3Command {
  /** Upper case. */
  readonly name: string;
  readonly states: readonly Pop3State[];
  /** How many arguments there may be; `text`: one, which may have spaces. */
  readonly takes: readonly [least: number, most: number] | 'text';
  /** Undefined when the command has written its reply, which was +OK. */
  run(session: Pop3Session, args: readonly string[]): Promise<Pop3Reply | undefined> | Pop3Reply;
}
