// Port: the shards that this node owns. `leased-ownership` implements it, and tests have a fixed ownership.
import type { Observable } from 'rxjs';
import { StartFault } from '../../../concurrency/start-fault.js';
import type { ClusterView, NodeState, PublicListeners } from '../../../store/leases.js';
import type { Relocation, ShardListener } from './shard-leases.js';

export type { Relocation, ShardListener } from './shard-leases.js';

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
  /** The cluster at the last heartbeat; undefined before the first. */
  readonly view: ClusterView | undefined;
  /** Nodes that are alive according to the store but do not answer on the bus: the bus is split. */
  readonly unreachable: readonly string[];
  /** ms since the leases were renewed; they expire after the lease time. */
  readonly heartbeatAgeMs: number;
  /** Whether the leases certainly belong to this node. */
  readonly isCurrent: boolean;
  /** Rises with every lapse of the leases; undefined while they are not current. */
  readonly leasePeriod: number | undefined;
  /** The epoch in which this node owns the account's shard; undefined when it does not. */
  epochOf(accountId: string): number | undefined;
  /** Emits shards when a node begins to answer for them. */
  readonly relocations$: Observable<Relocation>;
  /** Called when no node answers for the shard: checks the owner, and takes the shard if the owner is gone. */
  missing(shard: number): void;
  /** Called when the cluster may have changed since the last heartbeat. */
  recheck(): void;
  /** Joins the cluster; resolves when the node answers for its first shards. */
  start(listener: ShardListener): Promise<void>;
  /** Publishes the addresses at which clients reach this node; every heartbeat repeats them. */
  announce(listeners: PublicListeners): Promise<void>;
  /** Hands all shards over; resolves when that is done, when no node can take them, or after `withinMs`. */
  drain(withinMs: number): Promise<void>;
  /** Releases the remaining shards and leaves the cluster, even if the join is not finished. */
  leave(): Promise<void>;
}
