// A row of the command table: what `dispatch` must know about a command, and the function that carries it out.
import type { Pop3Reply } from './replies.js';
import type { Pop3Session, Pop3State } from './session.js';

export interface Pop3Command {
  /** Upper case. */
  readonly name: string;
  readonly states: readonly Pop3State[];
  /** The least and the most number of arguments. `text` means one argument, which may contain spaces. */
  readonly takes: readonly [least: number, most: number] | 'text';
  /** Returns undefined when the command itself has written its reply, which was +OK. */
  run(session: Pop3Session, args: readonly string[]): Promise<Pop3Reply | undefined> | Pop3Reply;
}
