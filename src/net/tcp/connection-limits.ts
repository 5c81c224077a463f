// Limits the connections of a listener: in all, per network, and per account. Each connection occupies a slot from its accept to its close;
// the address is known at once, or after the PROXY header of a trusted proxy.
import { KeyedLimiter, type Reservation } from '../../concurrency/keyed-limiter.js';
import { type Exhausted, fixedShare } from '../../concurrency/share-policies.js';

export interface ConnectionLimitOptions {
  readonly connections: number;
  /** The most connections of one IPv4 address or one IPv6 /64. */
  readonly connectionsPerAddress: number;
  /** The most connections with a login of one account. */
  readonly connectionsPerAccount: number;
}

/** The connections of networks and accounts at one listener, or at several together. */
export interface ConnectionLimiters {
  readonly networks: KeyedLimiter;
  readonly accounts: KeyedLimiter;
}

export function connectionLimiters(options: ConnectionLimitOptions): ConnectionLimiters {
  const { connections: total, connectionsPerAddress, connectionsPerAccount } = options;
  return {
    networks: new KeyedLimiter(fixedShare({ total, share: connectionsPerAddress })),
    accounts: new KeyedLimiter(fixedShare({ total, share: connectionsPerAccount })),
  };
}

/** Connections whose network is not known yet have one key. */
const ANY = '';

export class ConnectionLimits {
  readonly #limiters: ConnectionLimiters;
  readonly #all: KeyedLimiter;

  constructor(options: ConnectionLimitOptions, limiters = connectionLimiters(options)) {
    const { connections: total } = options;
    this.#all = new KeyedLimiter(fixedShare({ total, share: total }));
    this.#limiters = limiters;
  }

  get open(): number {
    return this.#all.used;
  }

  /** From half of the connections on, peers have less time. */
  get isHalfFull(): boolean {
    return this.open >= this.#all.total / 2;
  }

  /** Returns a slot; undefined when there are too many connections. */
  enter(): ConnectionSlot | undefined {
    const open = this.#all.reserve(ANY);
    return open && new ConnectionSlot(open, this.#limiters);
  }
}

export class ConnectionSlot {
  readonly #limiters: ConnectionLimiters;
  readonly #open: Reservation;
  #network: Reservation | undefined;
  #account: Reservation | undefined;

  constructor(open: Reservation, limiters: ConnectionLimiters) {
    this.#open = open;
    this.#limiters = limiters;
  }

  /** Sets the network of the connection, once. Returns the reason when that network may have no more; the slot must be left then. */
  ofNetwork(network: string): Exhausted | undefined {
    const { networks } = this.#limiters;
    this.#network = networks.reserve(network);
    return this.#network === undefined ? networks.exhausted(network) : undefined;
  }

  /** Whether the account may have this connection as well. A later login replaces an earlier one. */
  logIn(account: string): boolean {
    this.#account?.release();
    this.#account = this.#open.amount === 0 ? undefined : this.#limiters.accounts.reserve(account);
    return this.#account !== undefined;
  }

  /** The connection counts for no account any more. */
  logOut(): void {
    this.#account?.release();
    this.#account = undefined;
  }

  /** Releases the slot after the close; may be called again. */
  leave(): void {
    for (const reservation of [this.#account, this.#network, this.#open]) reservation?.release();
  }
}
