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

export class ConnectionLimits {
  readonly #most: number;
  readonly #networks: FixedShares;
  readonly #accounts: FixedShares;
  #open = 0;

  constructor({ connections, connectionsPerAddress, connectionsPerAccount }: ConnectionLimitOptions) {
    this.#most = connections;
    this.#networks = new FixedShares({ total: connections, share: connectionsPerAddress });
    this.#accounts = new FixedShares({ total: connections, share: connectionsPerAccount });
  }

  get open(): number {
    return this.#open;
  }

  /** Undefined when there are too many connections. */
  enter(): ConnectionSlot | undefined {
    if (this.#open >= this.#most) return undefined;
    this.#open++;
    return new ConnectionSlot(this.#networks, this.#accounts, () => this.#open--);
  }
}

export class ConnectionSlot {
  readonly #networks: FixedShares;
  readonly #accounts: FixedShares;
  readonly #left: () => void;
  #network: string | undefined;
  #account: string | undefined;
  #isOver = false;

  constructor(networks: FixedShares, accounts: FixedShares, left: () => void) {
    this.#networks = networks;
    this.#accounts = accounts;
    this.#left = left;
  }

  /** The network that the connection is from, once. Says why that network may have no more; the slot is to be left then. */
  ofNetwork(network: string): Exhausted | undefined {
    const exhausted = this.#networks.tryTake(network);
    if (exhausted === undefined) this.#network = network;
    return exhausted;
  }

  /** Whether the account may have this connection too. A later login takes the place of an earlier one. */
  logIn(account: string): boolean {
    this.#logOut();
    if (this.#isOver || this.#accounts.tryTake(account) !== undefined) return false;
    this.#account = account;
    return true;
  }

  /** The connection has closed; may be called again. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#logOut();
    if (this.#network !== undefined) this.#networks.give(this.#network);
    this.#left();
  }

  #logOut(): void {
    if (this.#account !== undefined) this.#accounts.give(this.#account);
    this.#account = undefined;
  }
}
