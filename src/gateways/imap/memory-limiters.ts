// Memory that slow clients can occupy, shared by all sessions of a node: a bound for all of them together and a share per
// account, so that no account takes what another needs.
import { KeyedLimiter } from '../../concurrency/keyed-limiter.js';
import { fixedShare } from '../../concurrency/share-policies.js';
import type { ImapLimits } from './limits.js';

export interface MemoryLimiters {
  /** Octets of commands with literals, from their first literal to their end. Before the login, the key is the client's network. */
  readonly commands: KeyedLimiter;
  /** Octets of searches that are kept up to date, and of their results. */
  readonly searches: KeyedLimiter;
  /** Approximate octets of data about messages that wait for the others of their command; the spool counts the messages themselves. */
  readonly messages: KeyedLimiter;
}

export function memoryLimiters(
  limits: Pick<ImapLimits, 'bufferedOctets' | 'bufferedOctetsPerAccount'>,
): MemoryLimiters {
  const policy = fixedShare({ total: limits.bufferedOctets, share: limits.bufferedOctetsPerAccount });
  return {
    commands: new KeyedLimiter(policy),
    searches: new KeyedLimiter(policy),
    messages: new KeyedLimiter(policy),
  };
}
