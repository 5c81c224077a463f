// Every subject of the bus, in one place. The transport puts the name of the cluster before them, so that several clusters
// can share the servers of one bus.

/** Requests to the actors of one shard; its owner alone answers. */
export function requestSubject(protocolName: string, shard: number): string {
  return `${protocolName}.${shard}`;
}

/** Events of one account's actor. */
export function eventSubject(protocolName: string, accountId: string): string {
  return `events.${protocolName}.${accountId}`;
}

/** Answered by a node as long as it lives. Names of nodes may have dots, tokens of subjects may not. */
export function nodeSubject(nodeId: string): string {
  return `node.${Buffer.from(nodeId).toString('hex')}`;
}

/** PlacementPackets. */
export const PLACEMENT_SUBJECT = 'placement';

/** A node that was cut off is back: what it published meanwhile nobody heard. */
export const BREAKS_SUBJECT = 'breaks';

/** LoginsPackets. */
export const LOGINS_SUBJECT = 'logins';

/** Requests to the hub of one node. */
export function hubSubject(hubId: string): string {
  return `hub.${hubId}`;
}

/** Requests to a node to forget keys that are revoked. */
export function revocationSubject(nodeId: string): string {
  return `revocations.${Buffer.from(nodeId).toString('hex')}`;
}

/** ConsumersPackets. */
export const CONSUMERS_SUBJECT = 'consumers';

/** Word for the node that delivers: DuePackets. */
export function deliverySubject(nodeId: string): string {
  return `delivery.${Buffer.from(nodeId).toString('hex')}`;
}
