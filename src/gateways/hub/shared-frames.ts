// Frames of the same messages for many connections: encoded once for all connections that asked for the same topics.
import { TOPIC_SETS, type Told } from './projection.js';

interface Frame {
  readonly messages: readonly Told[];
  octets: Uint8Array | undefined;
  connections: number;
}

export class SharedFrames {
  readonly #frames: readonly Frame[];

  constructor(messages: readonly Told[]) {
    this.#frames = Array.from({ length: TOPIC_SETS }, (_, topics) => ({
      messages: messages.filter(({ topic }) => (topic & ~topics) === 0),
      octets: undefined,
      connections: 0,
    }));
  }

  /** The frame of one more connection; undefined when there is nothing for its topics. */
  next(topics: number): Uint8Array | undefined {
    const frame = this.#frames[topics]!;
    frame.connections++;
    if (frame.messages.length === 0) return undefined;
    // A frame without messages of its topics is the frame of connections that asked for no topic.
    const common = this.#frames[0]!;
    const source = frame.messages.length === common.messages.length ? common : frame;
    source.octets ??= Buffer.from(source.messages.map(({ text }) => text).join(''));
    return source.octets;
  }

  /** Calls back for each set of topics that connections were given messages of. */
  count(sent: (messages: number, connections: number) => void): void {
    for (const { messages, connections } of this.#frames) {
      if (messages.length > 0 && connections > 0) sent(messages.length, connections);
    }
  }
}
