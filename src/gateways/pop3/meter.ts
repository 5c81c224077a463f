// What the POP3 gateway counts. Labels come from closed sets; input of a client is never a label.

export interface Pop3Meter {
  /** `name` is a name of the command table, or `unknown`. */
  completed(name: string, status: 'OK' | 'ERR', ms: number): void;
  /** Octets of a message that RETR or TOP has written, without dot-stuffing. */
  retrieved(octets: number): void;
  /** Messages that a QUIT has removed. */
  removed(messages: number): void;
}

export const NO_METER: Pop3Meter = { completed() {}, retrieved() {}, removed() {} };
