// The oracle of tests that follow an account's events from outside: the ids of all its client events, read from the log itself.
import type { MailboxEvent } from '../../src/actors/mailbox/protocol.js';
import { allClientEventsOf } from '../../src/gateways/events/client-events.js';
import { eventIdOf } from '../../src/gateways/events/event-id.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { postgresEvents } from '../../src/store/postgres/mailbox/events.js';
import { eventually } from '../scenarios/cluster/support/eventually.js';

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

/**
 * Reads the log again until `isHeard` holds for it, and returns what was read last. What was accepted or asked for last may be placed and
 * logged after the test has stopped: then the log of before is shorter than what its followers hear. When `isHeard` holds, the test
 * compares without waiting; when it never does, the comparison tells the difference.
 */
export async function wholeLog(
  read: () => Promise<readonly LoggedEvent[]>,
  isHeard: (log: readonly LoggedEvent[]) => boolean,
): Promise<readonly LoggedEvent[]> {
  let log: readonly LoggedEvent[] = [];
  const isWhole = async () => {
    log = await read();
    return isHeard(log);
  };
  await eventually('the followers to hear the whole log', isWhole).catch(() => undefined);
  return log;
}

/** Returns the ids of the emails that are new to the followers. */
export function newEmailsIn(log: readonly LoggedEvent[]): string[] {
  return log.flatMap(({ type, payload }) => (type === 'NewEmail' ? [(payload as { id: string }).id] : []));
}

/** Returns the ids that arrived, without repetitions. */
export function firstOfEach(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
