// Queue positions of outbound emails, for connections that asked for the timeline. While emails of an account wait, the mailbox is asked
// once a second for their positions, and clients get those that changed. Positions are not in the log: a client that connects gets the
// current ones. The mailbox is not asked while nothing is queued, nor for accounts that nobody follows.
import type { Logger } from 'pino';
import { repeat, retry, type Subscription } from 'rxjs';
import type { MailboxEvent, Mailboxes, MailboxProtocol } from '../../actors/mailbox/protocol.js';
import type { Reply } from '../../actors/runtime/protocol.js';
import { eventMessage } from './hub-messages.js';
import type { Caller } from './methods.js';
import { deliverShared, joined } from './shared-frames.js';

export interface QueuePositionsOptions {
  readonly mailboxes: Mailboxes;
  readonly log: Logger;
  /** The time between two positions of an email, in ms. */
  readonly queuePositionMs: number;
  /** A client for which more octets than this wait gets no positions. */
  readonly pauseBytes: number;
}

type Positions = Reply<MailboxProtocol, 'queuePositions'>['positions'];

/** The pause after the mailbox could not be asked, or its events broke off. */
const FAULT_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 3_600_000;

export class QueuePositions {
  readonly #options: QueuePositionsOptions;
  readonly #accounts = new Map<string, AccountPositions>();

  constructor(options: QueuePositionsOptions) {
    this.#options = options;
  }

  /** Follows until the connection closes. */
  follow(connection: Caller): void {
    const { accountId } = connection;
    const positions = this.#accounts.get(accountId) ?? new AccountPositions(accountId, this.#options);
    this.#accounts.set(accountId, positions);
    positions.add(connection);
    connection.add({
      drained() {},
      visit() {},
      end: () => {
        if (positions.delete(connection)) this.#accounts.delete(accountId);
      },
    });
  }
}

class AccountPositions {
  readonly #accountId: string;
  readonly #options: QueuePositionsOptions;
  readonly #connections = new Set<Caller>();
  readonly #events: Subscription;
  #known: Positions = [];
  #timer: NodeJS.Timeout | undefined;
  /** The time at which the timer fires, by performance.now(). */
  #askAt = Number.POSITIVE_INFINITY;
  #isAsking = false;
  /** Outbound mail has changed since the last question to the mailbox. */
  #isStale = false;

  constructor(accountId: string, options: QueuePositionsOptions) {
    this.#accountId = accountId;
    this.#options = options;
    this.#events = options.mailboxes
      .of(accountId)
      .events$()
      .pipe(retry({ delay: FAULT_PAUSE_MS }), repeat({ delay: FAULT_PAUSE_MS }))
      .subscribe((events) => {
        // The stream begins with an empty array, also after a fault, during which changes may have been missed.
        if (events.length === 0 || events.some(isAboutQueue)) this.#askSoon();
      });
    this.#askSoon();
  }

  add(connection: Caller): void {
    this.#connections.add(connection);
    this.#send(this.#known, [connection]);
  }

  /** True when no connection follows any more. */
  delete(connection: Caller): boolean {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return false;
    this.#events.unsubscribe();
    clearTimeout(this.#timer);
    return true;
  }

  #askSoon(): void {
    if (this.#isAsking) this.#isStale = true;
    else this.#askIn(this.#options.queuePositionMs);
  }

  /** Asks after `ms`, or sooner when a question is already planned, so that continuous changes do not delay it. */
  #askIn(ms: number): void {
    const pauseMs = Math.min(ms, LONGEST_PAUSE_MS);
    const at = performance.now() + pauseMs;
    if (at >= this.#askAt) return;
    clearTimeout(this.#timer);
    this.#askAt = at;
    this.#timer = setTimeout(() => void this.#ask(), pauseMs).unref();
  }

  async #ask(): Promise<void> {
    const { mailboxes, log, queuePositionMs } = this.#options;
    this.#isAsking = true;
    this.#isStale = false;
    this.#askAt = Number.POSITIVE_INFINITY;
    let againInMs: number | null = FAULT_PAUSE_MS;
    try {
      const { reply } = await mailboxes.of(this.#accountId).ask('queuePositions', {});
      if (reply !== undefined) {
        againInMs = reply.againInMs;
        this.#take(reply.positions);
      }
    } catch (err) {
      log.debug({ err, accountId: this.#accountId }, 'queue positions are not known at present');
    }
    this.#isAsking = false;
    if (this.#connections.size === 0) return;
    if (this.#isStale) againInMs = 0;
    if (againInMs !== null) this.#askIn(Math.max(queuePositionMs, againInMs));
  }

  #take(positions: Positions): void {
    const before = new Map(this.#known.map((one) => [one.outboundId, one]));
    this.#known = positions;
    const changed = positions.filter(({ outboundId, ahead, domain }) => {
      const known = before.get(outboundId);
      return known?.ahead !== ahead || known.domain !== domain;
    });
    this.#send(changed, this.#connections);
  }

  #send(positions: Positions, connections: Iterable<Caller>): void {
    if (positions.length === 0) return;
    const messages = positions.map(messageOf);
    const ready = [...connections].filter((one) => one.bufferedBytes() <= this.#options.pauseBytes);
    deliverShared(ready, (protocol) => joined(messages.map((message) => protocol.encode(message))));
  }
}

function isAboutQueue(event: MailboxEvent): boolean {
  return event.type === 'OutboundChanged' && event.payload.outbound.status !== 'Draft';
}

function messageOf({ outboundId: id, ahead: position, domain }: Positions[number]) {
  return eventMessage('QueuePositionChanged', { id, position, ...(domain !== null && { domain }) });
}
