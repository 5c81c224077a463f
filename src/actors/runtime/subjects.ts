// Every subject of the bus, in one place.

/** Requests to the actors of one shard; its owner alone answers. */
export function requestSubject(protocolName: string, shard: number): string {
  return `mansio.${protocolName}.${shard}`;
}

/** Events of one account's actor. */
export function eventSubject(protocolName: string, accountId: string): string {
  return `mansio.events.${protocolName}.${accountId}`;
}
