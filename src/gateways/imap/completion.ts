// The end of a command: the tagged response. A command returns it, or throws it as `Refused`.

export interface Completion {
  readonly status: 'OK' | 'NO' | 'BAD';
  /** The response code without brackets, such as `READ-ONLY` or `COPYUID 1 2 3` (RFC 9051 §7.1, RFC 5530). */
  readonly code?: string;
  readonly text: string;
  /** Sends the tagged line and then changes how octets are transported: STARTTLS, COMPRESS. */
  readonly sendWith?: (line: string) => Promise<void>;
}

/**
 * A command that continues until the client sends a line (IDLE). Only this object stays in memory until then.
 */
export interface Suspension {
  /** Octets of the line; a longer one gets BAD. */
  readonly mostOctets: number;
  finish(line: Buffer): Completion;
  /** Called once, when the line has arrived or the connection has ended. Resolves when nothing more is written. */
  stop(): Promise<void>;
  /** Writes the changes of the selected mailbox, after the output of the command and before its tagged response. */
  sendUpdates(): void;
  /** Called about once per second; `now` is the clock of `performance`. */
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

/** Ends a command with NO or BAD for an expected reason. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly completion: Completion;

  constructor(completion: Completion) {
    super(completion.text);
    this.completion = completion;
  }
}
