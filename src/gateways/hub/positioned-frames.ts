// Frames for connections that resume: whole changes in the order of the log, and at the end the event `Position` with the
// cursor that the client has once it has handled the frame. Made once for all connections that get the same batch, and once
// more for those among them that get the delivery timeline too.
import type { Logger } from 'pino';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import type { Place } from '../../actors/runtime/ref.js';
import { cursorOf } from './cursor.js';
import { eventText, logDelivered } from './event-text.js';
import { encodeMessage, INVOCATION } from './json-codec.js';
import { isOfTimeline } from './projection.js';

export interface PositionedFrame {
  /** Whole messages in UTF-8. */
  readonly octets: Uint8Array;
  readonly place: Place;
}

/** A page of the log is cut after so many characters, at the end of a change. */
const FRAME_LENGTH = 64 * 1024;

export function positionText(cursor: string): string {
  return encodeMessage({ type: INVOCATION, target: 'Position', arguments: [cursor] });
}

export class PositionedFrames {
  readonly #log: Logger;
  readonly #plain = new WeakMap<readonly MailboxEvent[], readonly PositionedFrame[]>();
  readonly #withTimeline = new WeakMap<readonly MailboxEvent[], readonly PositionedFrame[]>();

  constructor(log: Logger) {
    this.#log = log;
  }

  of(batch: readonly MailboxEvent[], accountId: string, wantsTimeline: boolean): readonly PositionedFrame[] {
    const made = wantsTimeline ? this.#withTimeline : this.#plain;
    let frames = made.get(batch);
    if (frames === undefined) {
      if (!this.#plain.has(batch) && !this.#withTimeline.has(batch)) {
        logDelivered(batch, accountId, { resumed: true }, this.#log);
      }
      frames = this.#make(batch, accountId, wantsTimeline);
      made.set(batch, frames);
    }
    return frames;
  }

  #make(batch: readonly MailboxEvent[], accountId: string, wantsTimeline: boolean): readonly PositionedFrame[] {
    const frames: PositionedFrame[] = [];
    let text = '';
    batch.forEach((event, i) => {
      if (wantsTimeline || !isOfTimeline(event)) text += eventText(event, accountId, this.#log) ?? '';
      const next = batch[i + 1];
      const isWhole = next === undefined || (next.seq !== event.seq && text.length >= FRAME_LENGTH);
      if (!isWhole) return;
      const place = { seq: event.seq, at: event.at };
      frames.push({ octets: Buffer.from(text + positionText(cursorOf(place, accountId))), place });
      text = '';
    });
    return frames;
  }
}
