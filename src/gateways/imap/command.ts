// A row of the command table: what `dispatch` must know about a command, and the functions that read it and carry it out.
import type { Completion, Suspension } from './completion.js';
import type { Session, SessionState } from './session.js';
import type { CommandReader } from './wire/command-reader.js';
import type { CommandStream } from './wire/command-stream.js';

export interface Command<A = unknown> {
  /** Upper case; `UID FETCH` is the command FETCH with `isUid`. */
  readonly name: string;
  readonly states: readonly SessionState[];
  /** Whether the command has a form with UID before it. */
  readonly hasUidForm?: boolean;
  /** Whether it changes the selected mailbox: refused after EXAMINE, and synced like `readsBack` unless the command syncs it itself. */
  readonly needsWrite?: boolean;
  /** Whether the selected mailbox is synced before the tagged response, even if its mirror is not known to be stale. */
  readonly readsBack?: boolean;
  /** Whether the command syncs the selected mailbox after its own change. */
  readonly hasSynced?: boolean;
  /** Whether it removes messages from the selected mailbox: its OK contains the new modseq of the mailbox (RFC 7162 §3.2.7). */
  readonly removes?: boolean;
  /** Whether the command carries messages: see `streamCommand`. */
  readonly stream?: boolean;
  /** Tells whether messages are named by sequence number; then no EXPUNGE may be sent while the command runs (RFC 9051 §7.5.1). */
  holdsExpunge?(args: A, isUid: boolean): boolean;
  /** Reads the arguments after the name and its space, but not the end of the line. @throws CommandSyntaxError */
  parse(reader: CommandReader, session: Session, isUid: boolean): A;
  run(session: Session, args: A, isUid: boolean): Promise<Completion> | Completion | Suspension;
}

/** Gives the row its type; the table holds rows of all types. */
export const command = <A>(row: Command<A>): Command => row as Command;

type StreamedRow = Omit<Command<CommandStream>, 'parse' | 'stream'>;

/** A command that carries messages: `run` gets the command while it arrives, and reads the arguments itself. */
export const streamCommand = (row: StreamedRow): Command =>
  command<CommandStream>({
    ...row,
    stream: true,
    parse() {
      throw new Error(`${row.name} is read as it comes`);
    },
  });
