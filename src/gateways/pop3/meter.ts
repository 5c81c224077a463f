// What the POP3 gateway counts. Labels come from closed sets: what a client wrote is never one.

export interface Pop3Meter {
  /** `name`: of the table, else `unknown`. */
  completed(name: string, status: 'OK' | 'ERR', ms: number): void;
  /** Octets of a message that RETR or TOP has written, without dot-stuffing. */
  retrieved(octets: number): void;
  /** Messages that a QUIT has removed. */
  removed(messages: number): void;
}

export const NO_METER: Pop3Meter = { completed() {}, retrieved() {}, removed() {} };
