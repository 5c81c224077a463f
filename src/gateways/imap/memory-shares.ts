// Memory that slow clients can occupy, shared by all sessions of a node: a bound for all of them together and a share per
// account, so that no account takes what another needs.
import { FixedShares } from '../../work/fixed-shares.js';
import type { ImapLimits } from './limits.js';

type Bounds = Pick<ImapLimits, 'bufferedOctets' | 'bufferedOctetsPerAccount'>;

export class MemoryShares {
  /** Octets of commands with literals, from their first literal to their end. Before the login, the key is the client's network. */
  readonly commands: FixedShares;
  /** Octets of searches that are kept up to date, and of their results. */
  readonly searches: FixedShares;

  /** Approximate octets of data about messages that wait for the others of their command; the spool counts the messages themselves. */
  readonly messages: FixedShares;

  constructor({ bufferedOctets: total, bufferedOctetsPerAccount: share }: Bounds) {
    this.commands = new FixedShares({ total, share });
    this.searches = new FixedShares({ total, share });
    this.messages = new FixedShares({ total, share });
  }
}
