// Event filters: connections that get the same octets, because they speak the same protocol and asked for the same topics. Tables of frames
// and of counts have one entry per filter.
import { TOPIC_SETS } from '../events/client-events.js';
import type { HubProtocol } from './protocols/hub-protocol.js';
import { PROTOCOLS } from './protocols/protocols.js';

interface Listener {
  readonly protocol: HubProtocol;
  /** The topics that the client asked for; events for everybody need none. */
  readonly topics: number;
}

export const EVENT_FILTERS = PROTOCOLS.length * TOPIC_SETS;

export function eventFilterOf({ protocol, topics }: Listener): number {
  return protocol.index * TOPIC_SETS + topics;
}

export function protocolOf(filter: number): HubProtocol {
  return PROTOCOLS[Math.floor(filter / TOPIC_SETS)]!;
}

export function topicsOf(filter: number): number {
  return filter % TOPIC_SETS;
}
