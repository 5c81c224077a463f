// How a command ends: the tagged response. A command returns it, or throws it as `Refused`.

export interface Completion {
  readonly status: 'OK' | 'NO' | 'BAD';
  /** Without brackets, such as `READ-ONLY` or `COPYUID 1 2 3` (RFC 9051 §7.1, RFC 5530). */
  readonly code?: string;
  readonly text: string;
  /** Sends the tagged line, and changes how octets travel after it: STARTTLS, COMPRESS. */
  readonly sendWith?: (line: string) => Promise<void>;
}

/**
 * A command that goes on until the client sends a line (IDLE). Only this object is kept in memory meanwhile.
 */
export interface Suspension {
  /** Of the line; a longer one is BAD. */
  readonly mostOctets: number;
  finish(line: Buffer): Completion;
  /** The command is over, by its line or with the connection. Called once; resolves when nothing more is written. */
  stop(): Promise<void>;
  /** Writes what has changed in the selected mailbox, behind what the command has written, and before its tagged response. */
  sendUpdates(): void;
  /** Called every second or so; `now` by the clock of `performance`. */
  tick(now: number): void;
}

export const ok = (text: string, code?: string): Completion => ({
  status: 'OK',
  text,
  ...(code !== undefined && { code }),
});
export const no = (text: string, code?: string): Completion => ({
  status: 'NO',
  text,
  ...(code !== undefined && { code }),
});
export const bad = (text: string, code?: string): Completion => ({
  status: 'BAD',
  text,
  ...(code !== undefined && { code }),
});

/** An expected end of a command that is not OK. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly completion: Completion;

  constructor(completion: Completion) {
    super(completion.text);
    this.completion = completion;
  }
}
