// Audiences: connections that get the same octets, because they speak the same protocol and asked for the same topics. Tables of frames and
// of counts have one entry per audience.
import { TOPIC_SETS } from '../events/client-events.js';
import type { HubProtocol } from './hub-protocol.js';
import { PROTOCOLS } from './protocols.js';

interface Listener {
  readonly protocol: HubProtocol;
  /** The topics that the client asked for; events for everybody need none. */
  readonly topics: number;
}

export const AUDIENCES = PROTOCOLS.length * TOPIC_SETS;

export function audienceOf({ protocol, topics }: Listener): number {
  return protocol.index * TOPIC_SETS + topics;
}

export function protocolOf(audience: number): HubProtocol {
  return PROTOCOLS[Math.floor(audience / TOPIC_SETS)]!;
}

export function topicsOf(audience: number): number {
  return audience % TOPIC_SETS;
}
