// Frames of the same messages for many connections: encoded once for all connections that asked for the same topics. Pure.
import type { EventText } from './event-text.js';

export interface SharedFrame {
  readonly octets: Uint8Array;
  readonly messages: number;
}

/** By sets of topics, for those that connections have asked for; undefined where there is no message. */
export function sharedFrames(
  messages: readonly EventText[],
  connections: readonly number[],
): readonly (SharedFrame | undefined)[] {
  /** Without a message of a topic, a frame is the same for all. */
  let common: SharedFrame | undefined;
  return connections.map((count, topics) => {
    const chosen = count === 0 ? [] : messages.filter(({ topic }) => (topic & ~topics) === 0);
    if (chosen.length === 0) return undefined;
    if (chosen.some(({ topic }) => topic !== 0)) return encoded(chosen);
    common ??= encoded(chosen);
    return common;
  });
}

function encoded(messages: readonly EventText[]): SharedFrame {
  return { octets: Buffer.from(messages.map(({ text }) => text).join('')), messages: messages.length };
}
