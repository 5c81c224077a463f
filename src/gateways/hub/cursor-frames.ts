// Frames for connections that resume: whole changes in the order of the log, and at the end the event `Position` with the client's cursor
// after the frame. A frame is made once for all connections of a filter that get the same batch.
import type { Logger } from 'pino';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import type { LogPosition } from '../../actors/runtime/ref.js';
import { cursorOf } from '../events/cursor.js';
import { EVENT_FILTERS, protocolOf, topicsOf } from './event-filter.js';
import { eventMessages, logDelivered } from './protocols/event-messages.js';
import { eventMessage, type Invocation } from './protocols/hub-messages.js';
import { joined } from './shared-frames.js';

export interface CursorFrame {
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

export class CursorFrames {
  readonly #log: Logger;
  readonly #logged = new WeakSet<readonly MailboxEvent[]>();
  /** The frames by filter. */
  readonly #made = Array.from(
    { length: EVENT_FILTERS },
    () => new WeakMap<readonly MailboxEvent[], readonly CursorFrame[]>(),
  );

  constructor(log: Logger) {
    this.#log = log;
  }

  of(batch: readonly MailboxEvent[], accountId: string, filter: number): readonly CursorFrame[] {
    const made = this.#made[filter]!;
    let frames = made.get(batch);
    if (frames === undefined) {
      if (!this.#logged.has(batch)) logDelivered(batch, accountId, { resumed: true }, this.#log);
      this.#logged.add(batch);
      frames = this.#make(batch, accountId, filter);
      made.set(batch, frames);
    }
    return frames;
  }

  #make(batch: readonly MailboxEvent[], accountId: string, filter: number): readonly CursorFrame[] {
    const protocol = protocolOf(filter);
    const topics = topicsOf(filter);
    const frames: CursorFrame[] = [];
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
