// Which shards this node owns, as the parts that stand on it see it: the port of `leased-ownership`, and of the fixed
// ownership of tests.

import type { Observable } from 'rxjs';
import { StartFault } from '../../errors/start-fault.js';
import type { ClusterView, NodeState, PublicListeners } from '../../store/leases.js';
import type { Relocation, Tenant } from './shard-leases.js';

export type { Relocation, Tenant } from './shard-leases.js';

/** Another node runs on this store, and one of the two has no bus. */
export class StoreInUse extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('store-in-use', message, options);
  }
}

export interface Ownership {
  readonly nodeId: string;
  readonly shards: number;
  readonly state: NodeState;
  readonly owned: readonly number[];
  /** What the last heartbeat saw; undefined before the first. */
  readonly view: ClusterView | undefined;
  /** Nodes that are alive by the store and do not answer on the bus: it is split. */
  readonly unheard: readonly string[];
  /** ms since the leases were renewed; they run out after the lease time. */
  readonly beatAgeMs: number;
  /** Whether the leases are this node's for certain. */
  readonly isCurrent: boolean;
  /** The epoch in which this node owns the account's shard; undefined when it does not. */
  epochOf(accountId: string): number | undefined;
  /** Shards that somebody answers for since a moment ago. */
  readonly relocations$: Observable<Relocation>;
  /** Nobody answers for the shard: see why, and take it if its owner is gone. */
  missing(shard: number): void;
  /** Something is not as the last heartbeat saw it. */
  recheck(): void;
  /** Enters the cluster; the first shards are settled when it resolves. */
  start(tenant: Tenant): Promise<void>;
  /** Tells the other nodes where clients reach this one; every heartbeat repeats it. */
  announce(listeners: PublicListeners): Promise<void>;
  /** Hands everything over to others; resolves when all of it is, nobody is there to take it, or `withinMs` is over. */
  drain(withinMs: number): Promise<void>;
  /** Gives back what is left and leaves the cluster, also one that it has not quite entered. */
  leave(): Promise<void>;
}
