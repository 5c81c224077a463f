// What the IMAP gateway counts. Labels come from closed sets: what a client wrote is never one.

export interface ImapMeter {
  /** `name`: of the table, else `unknown`. */
  completed(name: string, status: 'OK' | 'NO' | 'BAD', ms: number): void;
  appended(octets: number): void;
}

export const NO_METER: ImapMeter = { completed() {}, appended() {} };
