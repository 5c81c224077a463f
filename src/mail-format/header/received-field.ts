// Reads the Received field that Mansio itself wrote (header/trace.ts): its clauses, without the comments of others.

export interface ReceivedClauses {
  /** The name in HELO or EHLO, and the address of the peer; absent for a submitted message. */
  readonly helo?: string;
  readonly peer?: string;
  readonly by: string;
  /** RFC 3848: it ends in S with TLS, and in A after a login (SA with both). */
  readonly protocol: string;
  readonly id: string;
  readonly recipient?: string;
}

const FIELD = /^(?:from (\S+) \(\[(?:IPv6:)?([^\]]+)\]\) )?by (\S+) with (\S+) id ([^\s;]+)(?: for <([^>]*)>)?; /;

/** `value`: what follows the colon, unfolded. Undefined for a field that another server wrote. */
export function receivedClauses(value: string): ReceivedClauses | undefined {
  const match = FIELD.exec(value.trim().replace(/\s+/g, ' '));
  if (match === null) return undefined;
  const [, helo, peer, by = '', protocol = '', id = '', recipient] = match;
  return {
    ...(helo !== undefined && { helo }),
    ...(peer !== undefined && { peer }),
    by,
    protocol,
    id,
    ...(recipient !== undefined && { recipient }),
  };
}
