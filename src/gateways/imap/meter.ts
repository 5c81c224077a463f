// What the IMAP gateway counts. Labels come from closed sets; input of a client is never a label.

export interface ImapMeter {
  /** `name` is a name of the command table, or `unknown`. */
  completed(name: string, status: 'OK' | 'NO' | 'BAD', ms: number): void;
  appended(octets: number): void;
}

export const NO_METER: ImapMeter = { completed() {}, appended() {} };
