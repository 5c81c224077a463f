// Fan-out of mailbox events: the connections of an account on this node form a group, which subscribes to the account's events once. Each
// event is encoded once, and a connection gets one frame for all events of a tick. The connection decides what happens to a frame when its
// client is too slow.
import type { Logger } from 'pino';
import { catchError, EMPTY, filter, map, Subject, Subscription, tap } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import { NO_TRACER, type Span, type Tracer } from '../../actors/runtime/tracing.js';
import { batchedBy } from './batched-by.js';
import { EVENT_FILTERS, topicsOf } from './event-filter.js';
import { type HubMeter, NO_METER } from './meter.js';
import { eventMessages, logDelivered } from './protocols/event-messages.js';
import { type SharedFrame, sharedFrames } from './shared-frames.js';

export interface Subscriber {
  /** The filter, which does not change after the subscriber has joined. */
  readonly filter: number;
  /** Every later event will be delivered. No event is delivered before the caller of this method returns. */
  ready(): void;
  /** Accepts a frame of whole messages; all subscribers of a filter get the same octets. */
  deliver(frame: Uint8Array): void;
  /** No more events will arrive: the client has to connect again and to reload what it shows. */
  interrupted(): void;
}

interface Observability {
  readonly meter: HubMeter;
  readonly tracer: Tracer;
}

/** The events of one commit; `span` covers the time from their arrival until they are sent, when they are traced. */
interface Arrival {
  readonly events: readonly MailboxEvent[];
  readonly span: Span | undefined;
}

export class Subscriptions {
  readonly #mailboxes: Mailboxes;
  readonly #log: Logger;
  readonly #observability: Observability;
  readonly #groups = new Map<string, Group>();
  readonly #atEndOfTick: (run: () => void) => void;

  /** `atEndOfTick` runs its argument after the input of the current tick is handled. */
  constructor(
    mailboxes: Mailboxes,
    log: Logger,
    atEndOfTick: (run: () => void) => void,
    observability: Partial<Observability> = {},
  ) {
    this.#mailboxes = mailboxes;
    this.#log = log;
    this.#observability = { meter: observability.meter ?? NO_METER, tracer: observability.tracer ?? NO_TRACER };
    this.#atEndOfTick = atEndOfTick;
  }

  /** The number of accounts that are followed now. */
  get accounts(): number {
    return this.#groups.size;
  }

  /** Calls `ready` of the subscriber when the group is ready, possibly at once; false when the account cannot be followed now. */
  join(accountId: string, subscriber: Subscriber): boolean {
    const group = this.#groups.get(accountId) ?? this.#open(accountId);
    if (group === undefined) return false;
    group.flush$.next();
    group.add(subscriber);
    if (group.isReady) subscriber.ready();
    return true;
  }

  leave(accountId: string, subscriber: Subscriber): void {
    const group = this.#groups.get(accountId);
    if (group === undefined || !group.delete(subscriber) || group.subscribers.size > 0) return;
    this.#groups.delete(accountId);
    // The flush ends the spans of events that were not sent.
    group.flush$.next();
    group.source.unsubscribe();
  }

  #open(accountId: string): Group | undefined {
    const group = new Group(accountId, this.#log, this.#observability);
    this.#groups.set(accountId, group);
    const frames$ = this.#mailboxes
      .of(accountId)
      .events$()
      .pipe(
        catchError((err) => {
          this.#log.warn({ err, accountId, connections: group.subscribers.size }, 'mailbox events were interrupted');
          return EMPTY;
        }),
        tap(() => group.becomeReady()),
        filter((events) => events.length > 0),
        map((events) => group.arrive(events)),
        batchedBy(this.#atEndOfTick, group.flush$),
        map((arrivals) => group.encode(arrivals)),
      );
    group.source.add(
      frames$.subscribe({ next: (frames) => group.send(frames), complete: () => this.#interrupt(group) }),
    );
    return this.#groups.get(accountId) === group ? group : undefined;
  }

  #interrupt(group: Group): void {
    if (this.#groups.get(group.accountId) === group) this.#groups.delete(group.accountId);
    const subscribers = [...group.subscribers];
    group.subscribers.clear();
    for (const subscriber of subscribers) subscriber.interrupted();
  }
}

/** The connections of one account. */
class Group {
  readonly accountId: string;
  readonly subscribers = new Set<Subscriber>();
  readonly source = new Subscription();
  /** Ends the batch of the tick early. */
  readonly flush$ = new Subject<void>();
  /** Every later event is delivered. */
  isReady = false;
  /** The number of connections by filter. */
  readonly #connections = new Array<number>(EVENT_FILTERS).fill(0);
  readonly #log: Logger;
  readonly #observability: Observability;

  constructor(accountId: string, log: Logger, observability: Observability) {
    this.accountId = accountId;
    this.#log = log;
    this.#observability = observability;
  }

  becomeReady(): void {
    if (this.isReady) return;
    this.isReady = true;
    for (const subscriber of this.subscribers) subscriber.ready();
  }

  arrive(events: readonly MailboxEvent[]): Arrival {
    const { tracer } = this.#observability;
    const span = tracer.current === undefined ? undefined : tracer.start('hub send', { kind: 'producer' });
    logDelivered(events, this.accountId, { connections: this.subscribers.size }, this.#log);
    return { events, span };
  }

  add(subscriber: Subscriber): void {
    if (!this.subscribers.has(subscriber)) this.#connections[subscriber.filter]!++;
    this.subscribers.add(subscriber);
  }

  delete(subscriber: Subscriber): boolean {
    if (!this.subscribers.delete(subscriber)) return false;
    this.#connections[subscriber.filter]!--;
    return true;
  }

  encode(arrivals: readonly Arrival[]): readonly (SharedFrame | undefined)[] {
    for (const { span } of arrivals) {
      span?.set({ 'mansio.hub.connections': this.subscribers.size });
      span?.end();
    }
    const events = withLastCountOnly(arrivals.flatMap((arrival) => arrival.events));
    const topics = this.#connections.reduce((all, count, filter) => (count > 0 ? all | topicsOf(filter) : all), 0);
    const messages = events.flatMap((event) => eventMessages(event, topics, this.accountId, this.#log));
    return sharedFrames(messages, this.#connections);
  }

  send(frames: readonly (SharedFrame | undefined)[]): void {
    const { meter } = this.#observability;
    frames.forEach((frame, filter) => {
      if (frame !== undefined) meter.sent(frame.messages, this.#connections[filter]!);
    });
    for (const subscriber of this.subscribers) {
      const frame = frames[subscriber.filter];
      if (frame !== undefined) subscriber.deliver(frame.octets);
    }
  }
}

/** Keeps only the last unread count of a batch, because it replaces the earlier ones. */
function withLastCountOnly(events: readonly MailboxEvent[]): readonly MailboxEvent[] {
  const last = events.findLastIndex(({ type }) => type === 'UnreadCountChanged');
  return events.filter(({ type }, i) => type !== 'UnreadCountChanged' || i === last);
}
