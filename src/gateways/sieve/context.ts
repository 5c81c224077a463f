// What all ManageSieve sessions of a node share.
import type { KeyedLimiter } from '../../concurrency/keyed-limiter.js';
import type { SessionContext } from '../sessions/mail-session.js';
import type { SieveLimits } from './limits.js';
import type { SieveMeter } from './meter.js';

export interface SieveContext extends SessionContext {
  readonly limits: SieveLimits;
  /** Octets of commands with literals, by account or, before the login, by network. */
  readonly memory: KeyedLimiter;
  readonly meter: SieveMeter;
}
