// What was measured, for the simulation and the model of docs/scaling.md: processor time in µs, sizes in octets. `npm run bench cluster
// throughput boundary` and `npm run bench scaling heartbeats` measure it again.

/** In µs of a processor. */
export interface Parts {
  readonly node: number;
  readonly database: number;
  readonly nats: number;
}

export interface Constants {
  /** A message of 4 kB at the owner's node, without its share of the next. */
  readonly message: Omit<Parts, 'nats'>;
  /** A statement that stores messages or their words, whatever their number. */
  readonly statement: Omit<Parts, 'nats'>;
  /** The words of a message, which are cut and written after its acceptance. */
  readonly words: Omit<Parts, 'nats'>;
  /** What a message takes in addition when another node owns its mailbox: the gateway, the owner, NATS and the database. */
  readonly remote: {
    readonly gateway: number;
    readonly owner: number;
    readonly nats: number;
    readonly database: number;
    /** Whether the gateway stores the message by a statement of its own before the owner is asked. */
    readonly isStoredFirst: boolean;
  };
  /** The program that sends a message. */
  readonly client: number;
  /** Until the log of the database is on the disk. */
  readonly flush: number;
  /** What one heartbeat of one node takes, in clusters of these sizes, ascending; a heartbeat comes every second. */
  readonly heartbeats: readonly ({ readonly nodes: number } & Omit<Parts, 'nats'>)[];
  /** What a node without clients does besides, every second. */
  readonly idle: Omit<Parts, 'nats'>;
  /** A ping of another node, which every node does with each heartbeat; `node` is that of both together. */
  readonly ping: Omit<Parts, 'database'>;
  /** What clients do, at the owner's node and at another one. */
  readonly operations: Readonly<Record<string, { readonly owner: Parts; readonly other: Parts }>>;
  /** The load of a mailbox that is not in memory: of any, and for each of its emails. */
  readonly load: { readonly base: Omit<Parts, 'nats'>; readonly eachEmail: Omit<Parts, 'nats'> };
  readonly octets: {
    /** The log of the database for a message of 4 kB, and for each further octet of a message. */
    readonly walOfMessage: number;
    readonly walOfOctet: number;
    /** The tables, with their indexes, for an email besides its own octets. */
    readonly storedOfEmail: number;
    /** The memory of a session over TLS that waits, of a connection, of a loaded mailbox and of each of its emails. */
    readonly imapSession: number;
    readonly hubConnection: number;
    readonly mailbox: number;
    readonly emailOfMailbox: number;
    /** The mailboxes that a node has in memory have at most this together. */
    readonly loadedMailboxes: number;
    /** A node without sessions. */
    readonly node: number;
  };
  /** Connections of a node to the database. */
  readonly databaseConnections: number;
}

/**
 * What one node takes every second without clients, in a cluster of this size: its heartbeat, its pings, and the rest. Between measured
 * sizes heartbeats are interpolated.
 */
export function heartbeatCost({ heartbeats, idle, ping }: Constants, nodes: number): Parts {
  const above = heartbeats.find((each) => each.nodes >= nodes) ?? heartbeats.at(-1)!;
  const below = heartbeats.findLast((each) => each.nodes <= nodes) ?? heartbeats[0]!;
  const share = above.nodes === below.nodes ? 0 : (nodes - below.nodes) / (above.nodes - below.nodes);
  const of = (part: 'node' | 'database') => idle[part] + below[part] + share * (above[part] - below[part]);
  return { node: of('node') + (nodes - 1) * ping.node, database: of('database'), nats: (nodes - 1) * ping.nats };
}
