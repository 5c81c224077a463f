// The base class of all faults: something on our side failed, and the peer did nothing wrong. Refusals are values, and protocol
// errors are the peer's; neither is a fault. Each gateway maps the codes to its own replies in one table.

export interface FaultOptions {
  /** The same call may succeed later. */
  readonly temporary: boolean;
  readonly cause?: unknown;
}

export abstract class Fault<Code extends string = string> extends Error {
  /** The code is stable: tables and log searches rely on it, and nothing relies on the message. */
  readonly code: Code;
  readonly temporary: boolean;

  constructor(code: Code, message: string, { temporary, cause }: FaultOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.temporary = temporary;
  }
}
