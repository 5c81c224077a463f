// Memory that clients fill at their leisure, which all sessions of a node share: a bound for all of them together, and a share for
// each account, so that no account takes what another needs.
import { FixedShares } from '../../bounds/fixed-shares.js';
import type { ImapLimits } from './limits.js';

type Bounds = Pick<ImapLimits, 'heldOctets' | 'heldOctetsPerAccount'>;

export class MemoryShares {
  /** Octets of commands with literals, from their first literal to their end. Before the login the holder is the client's network. */
  readonly commands: FixedShares;
  /** Octets of searches that are kept up to date, and of their results. */
  readonly searches: FixedShares;

  /** Octets, roughly, of what is known of messages that wait for the others of their command; the spool counts the messages themselves. */
  readonly messages: FixedShares;

  constructor({ heldOctets: total, heldOctetsPerAccount: share }: Bounds) {
    this.commands = new FixedShares({ total, share });
    this.searches = new FixedShares({ total, share });
    this.messages = new FixedShares({ total, share });
  }
}
