// Computes how many accounts a cluster holds and which part is the bound, from what each account does in its busiest hour and what that
// takes. Sums only: `simulation.ts` shows what waiting adds.
import { type Constants, heartbeatCost, type Parts } from './constants.js';

/** What one account does. */
export interface Profile {
  /** Times per hour, by the names of the operations; `message` is a message that arrives. */
  readonly perHour: Readonly<Record<string, number>>;
  readonly imapSessions: number;
  readonly hubConnections: number;
  readonly emails: number;
  /** Times per hour when the mailbox is asked after a pause, in which it may have been dropped from memory. */
  readonly visitsPerHour: number;
  readonly messageOctets: number;
}

export interface Cluster {
  readonly nodes: number;
  readonly databaseCores: number;
  readonly natsCores: number;
  /** Octets per second that the disk of the database's log takes. */
  readonly logOctets: number;
  readonly nodeMemory: number;
}

export type Bound = 'nodes' | 'database' | 'NATS' | 'log' | 'memory';

export interface Capacity {
  /** The accounts that each part holds; the least number is that of the cluster. */
  readonly accounts: Readonly<Record<Bound, number>>;
  readonly bound: Bound;
  /** The share of the nodes, the database and NATS that heartbeats take. */
  readonly heartbeats: Readonly<Record<'nodes' | 'database' | 'NATS', number>>;
  readonly databaseConnections: number;
}

/** Parts are used to this share: beyond it, waiting grows fast. */
export const FULL = 0.7;
const SECOND = 1e6;
const HOUR = 3_600;
const MOST = 1e10;
/** The messages per statement of a busy node. */
const IN_STATEMENT = 4;

export function capacityOf(constants: Constants, profile: Profile, cluster: Cluster): Capacity {
  const { nodes } = cluster;
  const beat = heartbeatCost(constants, nodes);
  const each = perSecond(constants, profile, (nodes - 1) / nodes);
  const load = loadCost(constants, profile);
  const use = (accounts: number, part: keyof Parts) =>
    nodes * beat[part] + accounts * (each[part] + loadsPerSecond(constants, profile, accounts / nodes) * load[part]);
  const most = (cores: number, part: keyof Parts) =>
    largest((accounts) => use(accounts, part) <= cores * SECOND * FULL);
  const { octets } = constants;
  const sessions = profile.imapSessions * octets.imapSession + profile.hubConnections * octets.hubConnection;
  const accounts: Record<Bound, number> = {
    nodes: most(nodes, 'node'),
    database: most(cluster.databaseCores, 'database'),
    NATS: most(cluster.natsCores, 'nats'),
    log: Math.floor((cluster.logOctets * FULL) / logOctets(constants, profile)),
    memory: Math.floor((nodes * Math.max(0, cluster.nodeMemory - octets.node)) / sessions),
  };
  const bound = (Object.keys(accounts) as Bound[]).reduce((least, name) =>
    accounts[name] < accounts[least] ? name : least,
  );
  return {
    accounts,
    bound,
    heartbeats: {
      nodes: beat.node / SECOND,
      database: (nodes * beat.database) / (cluster.databaseCores * SECOND),
      NATS: (nodes * beat.nats) / (cluster.natsCores * SECOND),
    },
    databaseConnections: nodes * constants.databaseConnections,
  };
}

/** The largest number up to MOST that is still good, when all smaller ones are. */
function largest(isGood: (accounts: number) => boolean): number {
  if (isGood(MOST)) return Number.POSITIVE_INFINITY;
  let [good, bad] = [0, MOST];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isGood(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** Loads of mailboxes per second and account, when a node has this number of accounts and all are visited alike. */
function loadsPerSecond({ octets }: Constants, { visitsPerHour, emails }: Profile, accountsOfNode: number): number {
  const all = accountsOfNode * (octets.mailbox + emails * octets.emailOfMailbox);
  const missing = all <= octets.loadedMailboxes ? 0 : 1 - octets.loadedMailboxes / all;
  return (visitsPerHour / HOUR) * missing;
}

function loadCost({ load: { base, eachEmail } }: Constants, { emails }: Profile): Parts {
  return { node: base.node + emails * eachEmail.node, database: base.database + emails * eachEmail.database, nats: 0 };
}

/** What an account takes per second when this share of its mail and requests reaches another node than its owner. */
export function perSecond(constants: Constants, { perHour }: Profile, remoteShare: number): Parts {
  const sum = { node: 0, database: 0, nats: 0 };
  for (const [name, times] of Object.entries(perHour)) {
    const { owner, other } = name === 'message' ? messageCost(constants) : operation(constants, name);
    for (const part of ['node', 'database', 'nats'] as const)
      sum[part] += (times / HOUR) * (owner[part] + remoteShare * (other[part] - owner[part]));
  }
  return sum;
}

/** A message with its words, at the owner's node and at another one. */
export function messageCost({ message, statement, words, remote }: Constants, inStatement = IN_STATEMENT) {
  const node = message.node + statement.node / inStatement + words.node;
  const database = message.database + statement.database / inStatement + words.database;
  return {
    owner: { node, database, nats: 0 },
    other: { node: node + remote.gateway + remote.owner, database: database + remote.database, nats: remote.nats },
  };
}

function operation({ operations }: Constants, name: string): { readonly owner: Parts; readonly other: Parts } {
  const found = operations[name];
  if (found === undefined)
    throw new Error(`there is no operation ${name}; there are ${Object.keys(operations).join(', ')}`);
  return found;
}

/** Octets of the database's log per second and account. */
function logOctets({ octets }: Constants, { perHour, messageOctets }: Profile): number {
  const further = Math.max(0, messageOctets - 4_096) * octets.walOfOctet;
  return ((perHour['message'] ?? 0) / HOUR) * (octets.walOfMessage + further);
}
