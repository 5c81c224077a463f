// Event streams: the account's log as an observable. Published packets are hints (D5): one that does not join on to what
// was seen makes the stream read the log from there first, so a subscriber never has a gap, a repeat or a wrong order.

import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import type { EventLog } from '../../store/events.js';
import type { EventPacket, EventRecord } from './packet.js';
import { eventSubject } from './subjects.js';
import type { Transport } from './transport.js';

const LOG_PAGE = 500;
const RETRY_MS = 500;

export interface EventStreams<E> {
  /** From after `after` when given, else from now; one array a commit or a page of the log. */
  of(accountId: string, after?: number): Observable<readonly E[]>;
}

export interface EventStreamsOptions {
  readonly protocolName: string;
  readonly transport: Transport;
  readonly log: EventLog;
  readonly logger: Logger;
}

export function createEventStreams<E>(options: EventStreamsOptions): EventStreams<E> {
  const shared = new Map<string, AccountStream>();
  options.transport.breaks$.subscribe(() => {
    for (const stream of shared.values()) stream.recover();
  });
  return {
    of(accountId, after) {
      return new Observable<readonly E[]>((subscriber) => {
        let stream = shared.get(accountId);
        if (stream === undefined) {
          stream = new AccountStream(options, accountId, () => shared.delete(accountId));
          shared.set(accountId, stream);
        }
        return stream.add(subscriber as Subscriber<readonly EventRecord[]>, after);
      });
    },
  };
}

/** One subscriber's place in the log; undefined until it has seen its first packet. */
interface Follower {
  readonly subscriber: Subscriber<readonly EventRecord[]>;
  position: number | undefined;
  reading: boolean;
  /** Something newer than `position` may be in the log. */
  behind: boolean;
}

/** The node's one bus subscription of an account and everybody who follows it. */
class AccountStream {
  readonly #options: EventStreamsOptions;
  readonly #accountId: string;
  readonly #followers = new Set<Follower>();
  readonly #unsubscribe: () => void;
  readonly #empty: () => void;

  constructor(options: EventStreamsOptions, accountId: string, empty: () => void) {
    this.#options = options;
    this.#accountId = accountId;
    this.#empty = empty;
    const subject = eventSubject(options.protocolName, accountId);
    this.#unsubscribe = options.transport.subscribe(subject, (packet) => this.#receive(packet));
  }

  add(subscriber: Subscriber<readonly EventRecord[]>, after: number | undefined): () => void {
    const follower: Follower = { subscriber, position: after, reading: false, behind: after !== undefined };
    this.#followers.add(follower);
    if (follower.behind) void this.#read(follower);
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size > 0) return;
      this.#unsubscribe();
      this.#empty();
    };
  }

  /** Packets may have been missed: whoever has a position reads on from it. */
  recover(): void {
    for (const follower of this.#followers) {
      follower.behind = true;
      void this.#read(follower);
    }
  }

  #receive(packet: EventPacket): void {
    for (const follower of this.#followers) {
      follower.position ??= packet.after;
      if (packet.seq <= follower.position) continue;
      if (!follower.reading && packet.after <= follower.position) {
        follower.position = packet.seq;
        follower.subscriber.next(packet.events);
      } else {
        follower.behind = true;
        void this.#read(follower);
      }
    }
  }

  async #read(follower: Follower): Promise<void> {
    if (follower.reading || follower.position === undefined) return;
    follower.reading = true;
    while (follower.behind && !follower.subscriber.closed) {
      follower.behind = false;
      try {
        const events = await this.#options.log.read(this.#accountId, follower.position, LOG_PAGE);
        if (events.length === 0) break;
        follower.position = events[events.length - 1]!.seq;
        follower.behind ||= events.length >= LOG_PAGE;
        follower.subscriber.next(events);
      } catch (error) {
        this.#options.logger.warn({ accountId: this.#accountId, err: error }, 'event log could not be read');
        follower.behind = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    follower.reading = false;
    if (follower.behind && !follower.subscriber.closed) void this.#read(follower);
  }
}
