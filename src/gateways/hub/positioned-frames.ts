// Frames for connections that resume: whole changes in the order of the log, and at the end the event `Position` with the client's cursor
// after the frame. A frame is made once for all connections of an audience that get the same batch.
import type { Logger } from 'pino';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import type { LogPosition } from '../../actors/runtime/ref.js';
import { cursorOf } from '../events/cursor.js';
import { AUDIENCES, protocolOf, topicsOf } from './audience.js';
import { eventMessages, logDelivered } from './event-messages.js';
import { eventMessage, type Invocation } from './hub-messages.js';
import { joined } from './shared-frames.js';

export interface PositionedFrame {
  /** Whole messages. */
  readonly octets: Uint8Array;
  readonly position: LogPosition;
}

/** A page of the log is split after this many octets, at the end of a change. */
const FRAME_LENGTH = 64 * 1024;

/** The event that tells a client the cursor to remember. */
export function positionMessage(cursor: string): Invocation {
  return eventMessage('Position', cursor);
}

export class PositionedFrames {
  readonly #log: Logger;
  readonly #logged = new WeakSet<readonly MailboxEvent[]>();
  /** The frames by audience. */
  readonly #made = Array.from(
    { length: AUDIENCES },
    () => new WeakMap<readonly MailboxEvent[], readonly PositionedFrame[]>(),
  );

  constructor(log: Logger) {
    this.#log = log;
  }

  of(batch: readonly MailboxEvent[], accountId: string, audience: number): readonly PositionedFrame[] {
    const made = this.#made[audience]!;
    let frames = made.get(batch);
    if (frames === undefined) {
      if (!this.#logged.has(batch)) logDelivered(batch, accountId, { resumed: true }, this.#log);
      this.#logged.add(batch);
      frames = this.#make(batch, accountId, audience);
      made.set(batch, frames);
    }
    return frames;
  }

  #make(batch: readonly MailboxEvent[], accountId: string, audience: number): readonly PositionedFrame[] {
    const protocol = protocolOf(audience);
    const topics = topicsOf(audience);
    const frames: PositionedFrame[] = [];
    let messages: Uint8Array[] = [];
    let length = 0;
    batch.forEach((event, i) => {
      for (const { message } of eventMessages(event, topics, accountId, this.#log)) {
        const octets = protocol.encode(message);
        messages.push(octets);
        length += octets.length;
      }
      const next = batch[i + 1];
      const isWhole = next === undefined || (next.seq !== event.seq && length >= FRAME_LENGTH);
      if (!isWhole) return;
      const position = { seq: event.seq, at: event.at };
      messages.push(protocol.encode(positionMessage(cursorOf(position, accountId))));
      frames.push({ octets: joined(messages), position });
      messages = [];
      length = 0;
    });
    return frames;
  }
}
