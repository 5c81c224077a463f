// Events in the form of event streams (WHATWG HTML, "Server-sent events"): a block of lines for each event, whose id is a cursor of that
// event. Blocks are made once for all streams of an account on a node; each stream selects by type.
import type { Logger } from 'pino';
import type { MailboxEvent } from '../../actors/mailbox/protocol.js';
import type { LogPosition } from '../../actors/runtime/ref.js';
import { allClientEventsOf, type ClientEvent } from './client-events.js';
import { cursorsOf, type EventNumber, type EventPosition } from './cursor.js';
import type { ClientEventType } from './event-payloads.js';

/** One event of a change. */
interface EventBlock {
  readonly type: ClientEventType;
  readonly number: EventNumber;
  readonly text: string;
}

/** The events of one change, in order. The id of the last one names the end of the change. */
export interface ChangeBlocks {
  readonly position: LogPosition;
  readonly blocks: readonly EventBlock[];
}

export class EventBlocks {
  readonly #log: Logger;
  readonly #made = new WeakMap<readonly MailboxEvent[], readonly ChangeBlocks[]>();

  constructor(log: Logger) {
    this.#log = log;
  }

  of(batch: readonly MailboxEvent[], accountId: string): readonly ChangeBlocks[] {
    const made = this.#made.get(batch) ?? this.#make(batch, accountId);
    this.#made.set(batch, made);
    return made;
  }

  #make(batch: readonly MailboxEvent[], accountId: string): readonly ChangeBlocks[] {
    const cursorOf = cursorsOf(accountId);
    const changes: ChangeBlocks[] = [];
    for (let start = 0; start < batch.length; ) {
      const { seq, at } = batch[start]!;
      let end = start + 1;
      while (batch[end]?.seq === seq) end++;
      const events = batch.slice(start, end).flatMap((record) => this.#eventsOf(record, accountId));
      const blocks = events.map(({ type, payload, number }, i) => {
        const position: EventPosition = i === events.length - 1 ? { seq, at } : { seq, at, within: number };
        return { type, number, text: eventBlock(type, cursorOf(position), payload) };
      });
      changes.push({ position: { seq, at }, blocks });
      start = end;
    }
    return changes;
  }

  #eventsOf(record: MailboxEvent, accountId: string): readonly (ClientEvent & { readonly number: EventNumber })[] {
    const { seq, n, type } = record;
    try {
      return allClientEventsOf(record).map((event, k) => ({ ...event, number: { n, k } }));
    } catch (err) {
      // The error is not thrown, because it would end every stream of the account.
      this.#log.error({ err, accountId, seq, type }, 'event not sent to event streams');
      return [];
    }
  }
}

export function eventBlock(type: string, cursor: string, payload: unknown): string {
  return `id: ${cursor}\n${noticeBlock(type, payload)}`;
}

/** An event that names no position: the client keeps the id that it has. */
export function noticeBlock(type: string, payload: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(payload)}\n\n`;
}
