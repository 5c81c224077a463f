// Frames of the same messages for many connections: encoded once for all connections of an audience. Pure. A message is encoded
// once a protocol, and for nobody when no connection speaks the protocol.
import { protocolOf, topicsOf } from './audience.js';
import type { EventMessage } from './event-messages.js';
import type { HubProtocol } from './hub-protocol.js';

export interface SharedFrame {
  readonly octets: Uint8Array;
  readonly messages: number;
}

/** By audiences, for those that have connections; undefined where there is no message. `connections`: counts by audiences. */
export function sharedFrames(
  messages: readonly EventMessage[],
  connections: readonly number[],
): readonly (SharedFrame | undefined)[] {
  const encodings = new Map<HubProtocol, Encoding>();
  return connections.map((count, audience) => {
    if (count === 0) return undefined;
    const protocol = protocolOf(audience);
    let encoding = encodings.get(protocol);
    if (encoding === undefined) {
      encoding = new Encoding(protocol, messages);
      encodings.set(protocol, encoding);
    }
    return encoding.frame(topicsOf(audience));
  });
}

/** The messages in one protocol. */
class Encoding {
  readonly #protocol: HubProtocol;
  readonly #messages: readonly EventMessage[];
  readonly #octets: Uint8Array[] = [];
  /** Without a message of a topic, a frame is the same for all. */
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

/** Delivers the same frame to all, made once for each protocol that one of them speaks. */
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

/** One frame of the messages. */
export function joined(messages: readonly Uint8Array[]): Uint8Array {
  const [first] = messages;
  return messages.length === 1 && first !== undefined ? first : Buffer.concat(messages);
}
