// Event logs and a bus that several nodes share, in memory: the test commits, and decides what happens to the packet. Nodes follow the log
// as real ones do.
import pino from 'pino';
import { Subject } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../src/actors/mailbox/protocol.js';
import { mailboxProtocol } from '../../src/actors/mailbox/protocol.js';
import { createEventStreams } from '../../src/actors/runtime/events/event-streams.js';
import { createRefs } from '../../src/actors/runtime/refs.js';
import type { EventRecord } from '../../src/actors/runtime/transport/packet.js';
import { eventSubject } from '../../src/actors/runtime/transport/subjects.js';
import type { Transport } from '../../src/actors/runtime/transport/transport.js';
import { localTransport } from '../../src/actors/runtime/transport/transport-local.js';
import type { EventLog } from '../../src/store/events.js';
import { fixedOwnership } from './ownership.js';
import { turn } from './turns.js';

export class EventBus {
  readonly #rows = new Map<string, EventRecord[]>();
  readonly #local = localTransport({ encoding: true });
  readonly breaks$ = new Subject<void>();
  /** The current number of bus subscriptions. */
  subscriptions = 0;
  /** The number of reads of the log so far. */
  reads = 0;
  /** Reads and look-ups throw this error. */
  fault: Error | undefined;

  readonly log: EventLog = {
    read: async (accountId, after, limit) => {
      this.reads++;
      await this.#turn();
      const rows = this.rows(accountId).filter(({ seq }) => seq > after);
      const last = [...new Set(rows.map(({ seq }) => seq))].slice(0, limit).at(-1) ?? 0;
      return rows.filter(({ seq }) => seq <= last);
    },
    newest: async (accountId) => {
      await this.#turn();
      return this.rows(accountId).at(-1)?.seq ?? 0;
    },
    prune: async () => 0,
  };

  async #turn(): Promise<void> {
    await turn();
    if (this.fault !== undefined) throw this.fault;
  }

  rows(accountId: string): EventRecord[] {
    const rows = this.#rows.get(accountId) ?? [];
    this.#rows.set(accountId, rows);
    return rows;
  }

  /** Commits one change; the events get its seq. */
  commit(accountId: string, events: readonly MailboxEvent[], published = true): number {
    const rows = this.rows(accountId);
    const after = rows.at(-1)?.seq ?? 0;
    const seq = after + 1;
    const records = events.map(({ type, payload }, n) => ({ seq, n, type, payload, at: Date.now() }));
    rows.push(...records);
    const packet = { v: 1, accountId, after, seq, events: records };
    if (published) this.#local.publish(eventSubject(mailboxProtocol.name, accountId), packet);
    return seq;
  }

  /** Returns the mailboxes as another node sees them. */
  node(): Mailboxes {
    const transport: Transport = {
      ...this.#local,
      breaks$: this.breaks$,
      subscribe: (subject, listener) => {
        this.subscriptions++;
        const registration = this.#local.subscribe(subject, listener);
        const end = () => {
          this.subscriptions--;
          registration.end();
        };
        return { ...registration, end };
      },
    };
    const [ownership, logger] = [fixedOwnership(), pino({ level: 'silent' })];
    const streams = createEventStreams<MailboxEvent>({
      protocolName: mailboxProtocol.name,
      transport,
      ownership,
      log: this.log,
      logger,
    });
    return createRefs({ protocol: mailboxProtocol, transport, ownership, streams });
  }
}
