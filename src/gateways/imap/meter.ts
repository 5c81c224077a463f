// What the IMAP gateway counts. Labels come from closed sets: what a client wrote is never one.
import type { LoginOutcome } from '../../auth/protocol-login.js';

export interface ImapMeter {
  authenticated(outcome: LoginOutcome['kind'] | 'fault'): void;
  /** `name`: of the table, else `unknown`. */
  completed(name: string, status: 'OK' | 'NO' | 'BAD', ms: number): void;
  appended(octets: number): void;
}

export const NO_METER: ImapMeter = { authenticated() {}, completed() {}, appended() {} };
