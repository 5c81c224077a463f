// The base of all faults: something of ours failed, and the peer did nothing wrong. Refusals are values, and errors of a
// protocol are the peer's; neither is a fault. Each gateway maps the codes to its own replies in one table.

export interface FaultOptions {
  /** The same call may succeed later. */
  readonly temporary: boolean;
  readonly cause?: unknown;
}

export abstract class Fault<Code extends string = string> extends Error {
  /** Stable: tables and log searches rely on the code, nothing on the message. */
  readonly code: Code;
  readonly temporary: boolean;

  constructor(code: Code, message: string, { temporary, cause }: FaultOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.temporary = temporary;
  }
}
