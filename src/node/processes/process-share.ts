// The share of a process: its number among the processes of one parent, and its part of the limits that apply to a machine.
import type { ConnectionLimitOptions } from '../../net/tcp/connection-limits.js';
import type { DatabaseAddress } from '../../store/postgres/driver/client.js';

/** Undefined for a node without a parent. */
export interface ProcessShare {
  /** Counts from 1. */
  readonly number: number;
  /** The number of all processes of the parent. */
  readonly count: number;
  /** The data directory of the parent, which contains the common data of all processes. */
  readonly directory: string;
  /** The embedded database, which the parent runs; absent: the database of DATABASE_URL. */
  readonly database?: DatabaseAddress;
  /** The port on which the HTTP servers of the other processes already listen. */
  readonly httpPort: number | undefined;
  /** That of their servers for ACME. */
  readonly acmePort: number | undefined;
}

/** Standard deviations: one process refuses a holder in a thousand before it has what a single node would grant. */
const ROOM = 3;

/**
 * The part of a limit on connections that one of `count` processes applies. Connections reach the processes at random, so each process has
 * some room above the mean. Together they grant more than the limit: of 200, at most 244 with two processes, 320 with eight.
 */
export function shareOfConnections(bound: number, count: number): number {
  const mean = bound / count;
  const deviation = Math.sqrt(mean * (1 - 1 / count));
  return Math.min(bound, Math.ceil(mean + ROOM * deviation));
}

/** Converts the `limits` of a node to those of one of `count` processes. */
export function limitsOf<L extends ConnectionLimitOptions>(limits: L, count: number): L {
  const { connections, connectionsPerAddress, connectionsPerAccount } = limits;
  return {
    ...limits,
    connections: shareOfConnections(connections, count),
    connectionsPerAddress: shareOfConnections(connectionsPerAddress, count),
    connectionsPerAccount: shareOfConnections(connectionsPerAccount, count),
  };
}

/** The part of a cache of `octets`: each process has the same share of the accounts. */
export function shareOfMemory(octets: number, count: number): number {
  return Math.ceil(octets / count);
}

/**
 * The part of a pool of `size` connections to the database: together the processes open at most twice as many as a single node, or `least`
 * each.
 */
export function shareOfPool(size: number, count: number, least: number): number {
  return Math.min(size, Math.max(least, Math.ceil((2 * size) / count)));
}
