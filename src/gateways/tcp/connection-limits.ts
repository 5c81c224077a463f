// How many connections a listener has: in all, of one network, and of one account. Each connection holds a slot from its accept
// to its close; the address is known at once, or after the PROXY header of a trusted proxy.
import { type Exhausted, FixedShares } from '../../bounds/fixed-shares.js';

export interface ConnectionLimitOptions {
  readonly connections: number;
  /** Of one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  /** That one account has logged in on. */
  readonly connectionsPerAccount: number;
}

/** What networks and accounts have of the connections of one listener, or of several together. */
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

  /** Peers are to be quick from here on. */
  get isHalfFull(): boolean {
    return this.#open >= this.#most / 2;
  }

  /** Undefined when there are too many connections. */
  enter(): ConnectionSlot | undefined {
    if (this.#open >= this.#most) return undefined;
    this.#open++;
    return new ConnectionSlot(this);
  }

  /** A slot is given back. */
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

  /** The network that the connection is from, once. Says why that network may have no more; the slot is to be left then. */
  ofNetwork(network: string): Exhausted | undefined {
    const exhausted = this.#limits.shares.networks.tryTake(network);
    if (exhausted === undefined) this.#network = network;
    return exhausted;
  }

  /** Whether the account may have this connection too. A later login takes the place of an earlier one. */
  logIn(account: string): boolean {
    this.#logOut();
    if (this.#isOver || this.#limits.shares.accounts.tryTake(account) !== undefined) return false;
    this.#account = account;
    return true;
  }

  /** The connection has closed; may be called again. */
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
