// Frames for connections that resume: whole changes in the order of the log, and at the end the event `Position` with the
// client's cursor after the frame. A frame is made once for all connections that get the same batch and have asked
// for the same topics.
import type { Logger } from 'pino';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import type { LogPosition } from '../../actors/runtime/ref.js';
import { TOPIC_SETS } from '../events/client-events.js';
import { cursorOf } from '../events/cursor.js';
import { eventTexts, logDelivered } from './event-text.js';
import { encodeMessage, INVOCATION } from './json-codec.js';

export interface PositionedFrame {
  /** Whole messages in UTF-8. */
  readonly octets: Uint8Array;
  readonly position: LogPosition;
}

/** A page of the log is cut after so many characters, at the end of a change. */
const FRAME_LENGTH = 64 * 1024;

export function positionText(cursor: string): string {
  return encodeMessage({ type: INVOCATION, target: 'Position', arguments: [cursor] });
}

export class PositionedFrames {
  readonly #log: Logger;
  readonly #logged = new WeakSet<readonly MailboxEvent[]>();
  /** By topics. */
  readonly #made = Array.from(
    { length: TOPIC_SETS },
    () => new WeakMap<readonly MailboxEvent[], readonly PositionedFrame[]>(),
  );

  constructor(log: Logger) {
    this.#log = log;
  }

  of(batch: readonly MailboxEvent[], accountId: string, topics: number): readonly PositionedFrame[] {
    const made = this.#made[topics]!;
    let frames = made.get(batch);
    if (frames === undefined) {
      if (!this.#logged.has(batch)) logDelivered(batch, accountId, { resumed: true }, this.#log);
      this.#logged.add(batch);
      frames = this.#make(batch, accountId, topics);
      made.set(batch, frames);
    }
    return frames;
  }

  #make(batch: readonly MailboxEvent[], accountId: string, topics: number): readonly PositionedFrame[] {
    const frames: PositionedFrame[] = [];
    let text = '';
    batch.forEach((event, i) => {
      for (const message of eventTexts(event, topics, accountId, this.#log)) text += message.text;
      const next = batch[i + 1];
      const isWhole = next === undefined || (next.seq !== event.seq && text.length >= FRAME_LENGTH);
      if (!isWhole) return;
      const position = { seq: event.seq, at: event.at };
      frames.push({ octets: Buffer.from(text + positionText(cursorOf(position, accountId))), position });
      text = '';
    });
    return frames;
  }
}
