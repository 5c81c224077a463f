// Queue positions of outbound emails, for connections that asked for the timeline. While emails of an account wait, the mailbox is asked
// once a second for their positions, and clients get those that changed. Positions are not in the log: a client that connects gets the
// current ones. The mailbox is not asked while nothing is queued, nor for accounts that nobody follows.
import type { Logger } from 'pino';
import type { MailboxEvent, Mailboxes, MailboxProtocol } from '../../actors/mailbox/protocol.js';
import type { Reply } from '../../actors/runtime/protocol.js';
import { WorkQueue } from '../../concurrency/work-queue.js';
import { AccountFollower, type EventListener } from '../events/account-follower.js';
import type { Caller } from './methods.js';
import { eventMessage } from './protocols/hub-messages.js';
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

/** The pause after the mailbox could not be asked. */
const FAULT_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 3_600_000;

export class QueuePositions {
  readonly #options: QueuePositionsOptions;
  readonly #accounts = new Map<string, AccountPositions>();
  /** Accounts whose mailboxes are asked. */
  readonly #questions: WorkQueue;

  constructor(options: QueuePositionsOptions) {
    this.#options = options;
    this.#questions = new WorkQueue({
      work: async (accountId) => this.#accounts.get(accountId)?.ask(),
      failed: (accountId, err) => options.log.error({ err, accountId }, 'a bug: queue positions are not asked for'),
      // The accounts that connections follow.
      workers: Number.POSITIVE_INFINITY,
      most: Number.POSITIVE_INFINITY,
      backoff: { firstMs: FAULT_PAUSE_MS },
    });
  }

  /** Follows until the connection closes. */
  follow(connection: Caller): void {
    const { accountId } = connection;
    const positions = this.#accounts.get(accountId) ?? this.#open(accountId);
    positions.add(connection);
    connection.add({
      drained() {},
      visit() {},
      end: () => {
        if (!positions.delete(connection)) return;
        this.#accounts.delete(accountId);
        this.#questions.forget(accountId);
      },
    });
  }

  #open(accountId: string): AccountPositions {
    const askSoon = () => void this.#questions.addAfter(accountId, this.#options.queuePositionMs);
    const positions = new AccountPositions(accountId, this.#options, askSoon);
    this.#accounts.set(accountId, positions);
    askSoon();
    return positions;
  }
}

class AccountPositions implements EventListener {
  readonly #accountId: string;
  readonly #options: QueuePositionsOptions;
  readonly #askSoon: () => void;
  readonly #connections = new Set<Caller>();
  readonly #follower: AccountFollower;
  #known: Positions = [];

  constructor(accountId: string, options: QueuePositionsOptions, askSoon: () => void) {
    this.#accountId = accountId;
    this.#options = options;
    this.#askSoon = askSoon;
    this.#follower = new AccountFollower(options.mailboxes, accountId, this);
  }

  add(connection: Caller): void {
    this.#connections.add(connection);
    this.#send(this.#known, [connection]);
  }

  /** True when no connection follows any more. */
  delete(connection: Caller): boolean {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return false;
    this.#follower.end();
    return true;
  }

  heard(events: readonly MailboxEvent[], isGap: boolean): void {
    if (isGap || events.some(isAboutQueue)) this.#askSoon();
  }

  /** Clients keep what they have: the next `heard` says that changes may have been missed. */
  interrupted(): void {}

  /** Returns when to ask again. Events shorten the pause after a fault too. */
  async ask(): Promise<number | undefined> {
    const { mailboxes, log, queuePositionMs } = this.#options;
    try {
      const { reply } = await mailboxes.of(this.#accountId).ask('queuePositions', {});
      if (reply === undefined) return Math.max(queuePositionMs, FAULT_PAUSE_MS);
      this.#take(reply.positions);
      const { againInMs } = reply;
      return againInMs === null ? undefined : Math.min(Math.max(queuePositionMs, againInMs), LONGEST_PAUSE_MS);
    } catch (err) {
      log.debug({ err, accountId: this.#accountId }, 'queue positions are not known at present');
      return Math.max(queuePositionMs, FAULT_PAUSE_MS);
    }
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
