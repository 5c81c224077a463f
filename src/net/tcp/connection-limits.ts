// Limits the connections of a listener: in all, per network, and per account. Each connection occupies a slot from its accept to its close;
// the address is known at once, or after the PROXY header of a trusted proxy.
import { type Exhausted, FixedShares } from '../../work/fixed-shares.js';

export interface ConnectionLimitOptions {
  readonly connections: number;
  /** The most connections of one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  /** The most connections with a login of one account. */
  readonly connectionsPerAccount: number;
}

/** The connections of networks and accounts at one listener, or at several together. */
export class ConnectionShares {
  readonly networks: FixedShares;
  readonly accounts: FixedShares;

  constructor({ connections, connectionsPerAddress, connectionsPerAccount }: ConnectionLimitOptions) {
    this.networks = new FixedShares({ total: connections, share: connectionsPerAddress });
    this.accounts = new FixedShares({ total: connections, share: connectionsPerAccount });
  }
}

export class ConnectionLimits {
  readonly shares: ConnectionShares;
  readonly #most: number;
  #open = 0;

  constructor(options: ConnectionLimitOptions, shares = new ConnectionShares(options)) {
    this.#most = options.connections;
    this.shares = shares;
  }

  get open(): number {
    return this.#open;
  }

  /** From half of the connections on, peers have less time. */
  get isHalfFull(): boolean {
    return this.#open >= this.#most / 2;
  }

  /** Returns a slot; undefined when there are too many connections. */
  enter(): ConnectionSlot | undefined {
    if (this.#open >= this.#most) return undefined;
    this.#open++;
    return new ConnectionSlot(this);
  }

  /** Returns a slot to the limits. */
  leave(): void {
    this.#open--;
  }
}

export class ConnectionSlot {
  readonly #limits: ConnectionLimits;
  #network: string | undefined;
  #account: string | undefined;
  #isOver = false;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Sets the network of the connection, once. Returns the reason when that network may have no more; the slot must be left then. */
  ofNetwork(network: string): Exhausted | undefined {
    const exhausted = this.#limits.shares.networks.tryTake(network);
    if (exhausted === undefined) this.#network = network;
    return exhausted;
  }

  /** Whether the account may have this connection as well. A later login replaces an earlier one. */
  logIn(account: string): boolean {
    this.#logOut();
    if (this.#isOver || this.#limits.shares.accounts.tryTake(account) !== undefined) return false;
    this.#account = account;
    return true;
  }

  /** Releases the slot after the close; may be called again. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#logOut();
    if (this.#network !== undefined) this.#limits.shares.networks.give(this.#network);
    this.#limits.leave();
  }

  #logOut(): void {
    if (this.#account !== undefined) this.#limits.shares.accounts.give(this.#account);
    this.#account = undefined;
  }
}
