// A row of the command table: what `dispatch` must know of a command, and how the command is read and carried out.
import type { Completion, Suspension } from './completion.js';
import type { Session, SessionState } from './session.js';
import type { CommandReader } from './wire/command-reader.js';
import type { CommandStream } from './wire/command-stream.js';

export interface Command<A = unknown> {
  /** Upper case; `UID FETCH` is the command FETCH with `isUid`. */
  readonly name: string;
  readonly states: readonly SessionState[];
  /** The command has a form with UID before it. */
  readonly hasUidForm?: boolean;
  /** Changes the selected mailbox: refused after EXAMINE, and synced as by `readsBack` unless the command syncs it itself. */
  readonly needsWrite?: boolean;
  /** The selected mailbox is synced before the tagged response, even if its mirror is not known to be stale. */
  readonly readsBack?: boolean;
  /** Has synced the selected mailbox since its own change. */
  readonly hasSynced?: boolean;
  /** Takes messages out of the selected mailbox: its OK says which modseq the mailbox has then (RFC 7162 §3.2.7). */
  readonly removes?: boolean;
  /** Carries messages: see `streamCommand`. */
  readonly stream?: boolean;
  /** Whether messages are named by sequence number, so that no EXPUNGE may be sent while the command runs (RFC 9051 §7.5.1). */
  holdsExpunge?(args: A, isUid: boolean): boolean;
  /** Reads the arguments after the name and the space behind it, but not the end of the line. @throws CommandSyntaxError */
  parse(reader: CommandReader, session: Session, isUid: boolean): A;
  run(session: Session, args: A, isUid: boolean): Promise<Completion> | Completion | Suspension;
}

/** Types the row; the table holds rows of all types. */
export const command = <A>(row: Command<A>): Command => row as Command;

type StreamedRow = Omit<Command<CommandStream>, 'parse' | 'stream'>;

/** A command that carries messages: `run` is given the command as it comes, and reads its arguments itself. */
export const streamCommand = (row: StreamedRow): Command =>
  command<CommandStream>({
    ...row,
    stream: true,
    parse() {
      throw new Error(`${row.name} is read as it comes`);
    },
  });
