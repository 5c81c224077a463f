// The oracle of tests that follow an account's events from outside: the ids of all its client events, read from the log itself.
import type { MailboxEvent } from '../../src/actors/mailbox/protocol.js';
import { allClientEventsOf } from '../../src/gateways/events/client-events.js';
import { eventIdOf } from '../../src/gateways/events/event-id.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { postgresEvents } from '../../src/store/postgres/mailbox/events.js';

export interface LoggedEvent {
  /** The id that webhooks use. */
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
}

/** Returns the events in order, after the change `after`. */
export async function loggedEvents(sql: Sql, accountId: string, after = 0): Promise<LoggedEvent[]> {
  const log = postgresEvents(sql);
  const found: LoggedEvent[] = [];
  for (let seq = after; ; ) {
    const page = await log.read(accountId, seq, 500);
    if (page.length === 0) return found;
    for (const event of page as readonly MailboxEvent[]) {
      allClientEventsOf(event).forEach(({ type, payload }, k) => {
        found.push({
          id: eventIdOf({ seq: event.seq, at: event.at, within: { n: event.n, k } }, accountId),
          type,
          payload,
        });
      });
    }
    seq = page.at(-1)!.seq;
  }
}

/** Returns the ids that arrived, without repetitions. */
export function firstOfEach(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
