// All subjects of the bus. The transport adds the name of the cluster before them, so that several clusters can share the servers of one
// bus.
import { randomBytes } from 'node:crypto';

const ADDRESS_OCTETS = 8;

/** Requests to the actors of one shard; only its owner answers. */
export function requestSubject(protocolName: string, shard: number): string {
  return `${protocolName}.${shard}`;
}

/** Returns the address of a node on the bus. It is random, so that a node that restarts gets no replies of its former life. */
export function newAddress(): string {
  // Numbers of batches take the place of addresses, so no address is a number.
  return `n${randomBytes(ADDRESS_OCTETS).toString('hex')}`;
}

/** Batches of requests to a node, whatever their subjects are. `address`: see `newAddress`. */
export function nodeRequestsSubject(address: string): string {
  return `requests.${address}`;
}

/** Replies to the node at the address. `from`: the address of the node that answers, or the number of a batch of requests. */
export function replySubject(address: string, from: string): string {
  return `replies.${address}.${from}`;
}

/** Events of one account's actor. */
export function eventSubject(protocolName: string, accountId: string): string {
  return `events.${protocolName}.${accountId}`;
}

/** Answered by a node as long as it lives. Names of nodes may have dots, but tokens of subjects may not. */
export function nodeSubject(nodeId: string): string {
  return `node.${Buffer.from(nodeId).toString('hex')}`;
}

/** PlacementPackets. */
export const PLACEMENT_SUBJECT = 'placement';

/** A node that was cut off is back: nobody received what it published meanwhile. */
export const BREAKS_SUBJECT = 'breaks';

/** LoginsPackets. */
export const LOGINS_SUBJECT = 'logins';

/** Requests to the hub of one node. */
export function hubSubject(hubId: string): string {
  return `hub.${hubId}`;
}

/** Tells a node to forget revoked keys. */
export function revocationSubject(nodeId: string): string {
  return `revocations.${Buffer.from(nodeId).toString('hex')}`;
}

/** ConsumersPackets. */
export const CONSUMERS_SUBJECT = 'consumers';

/** DuePackets for the node that delivers. */
export function deliverySubject(nodeId: string): string {
  return `delivery.${Buffer.from(nodeId).toString('hex')}`;
}
