// Frames of the same messages for many connections, made once for all connections of a filter. Pure. A message is encoded once per
// protocol, and not at all for a protocol that no connection speaks.
import { protocolOf, topicsOf } from './event-filter.js';
import type { EventMessage } from './protocols/event-messages.js';
import type { HubProtocol } from './protocols/hub-protocol.js';

export interface SharedFrame {
  readonly octets: Uint8Array;
  readonly messages: number;
}

/** The frames by filter, for filters with connections; undefined where there is no message. `connections`: counts by filter. */
export function sharedFrames(
  messages: readonly EventMessage[],
  connections: readonly number[],
): readonly (SharedFrame | undefined)[] {
  const encodings = new Map<HubProtocol, Encoding>();
  return connections.map((count, filter) => {
    if (count === 0) return undefined;
    const protocol = protocolOf(filter);
    let encoding = encodings.get(protocol);
    if (encoding === undefined) {
      encoding = new Encoding(protocol, messages);
      encodings.set(protocol, encoding);
    }
    return encoding.frame(topicsOf(filter));
  });
}

/** The messages in one protocol. */
class Encoding {
  readonly #protocol: HubProtocol;
  readonly #messages: readonly EventMessage[];
  readonly #octets: Uint8Array[] = [];
  /** The frame for all filters when no message has a topic. */
  #common: SharedFrame | undefined;

  constructor(protocol: HubProtocol, messages: readonly EventMessage[]) {
    this.#protocol = protocol;
    this.#messages = messages;
  }

  frame(topics: number): SharedFrame | undefined {
    const octets: Uint8Array[] = [];
    let isCommon = true;
    this.#messages.forEach(({ topic, message }, i) => {
      if ((topic & ~topics) !== 0) return;
      if (topic !== 0) isCommon = false;
      this.#octets[i] ??= this.#protocol.encode(message);
      octets.push(this.#octets[i]);
    });
    if (octets.length === 0) return undefined;
    if (!isCommon) return { octets: joined(octets), messages: octets.length };
    this.#common ??= { octets: joined(octets), messages: octets.length };
    return this.#common;
  }
}

interface Receiver {
  readonly protocol: HubProtocol;
  deliver(frame: Uint8Array): void;
}

/** Delivers the same frame to all receivers; it is made once for each protocol that one of them speaks. */
export function deliverShared(receivers: Iterable<Receiver>, frameIn: (protocol: HubProtocol) => Uint8Array): void {
  const frames = new Map<HubProtocol, Uint8Array>();
  for (const receiver of receivers) {
    const { protocol } = receiver;
    let frame = frames.get(protocol);
    if (frame === undefined) {
      frame = frameIn(protocol);
      frames.set(protocol, frame);
    }
    receiver.deliver(frame);
  }
}

/** Joins the messages into one frame. */
export function joined(messages: readonly Uint8Array[]): Uint8Array {
  const [first] = messages;
  return messages.length === 1 && first !== undefined ? first : Buffer.concat(messages);
}
