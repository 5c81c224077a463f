// Fan-out of mailbox events: one subscription to an account's events however many of its connections this node has, each
// event serialised once, and one frame a connection for all that happened in a tick. What a frame meets at a socket is
// the connection's business.
import type { Logger } from 'pino';
import { Subscription } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import { NO_TRACER, type Span, type Tracer } from '../../actors/runtime/tracing.js';
import { eventTexts, logDelivered } from './event-text.js';
import { type HubMeter, NO_METER } from './meter.js';
import { TOPIC_SETS, type Told } from './projection.js';

export interface Subscriber {
  /** Topics whose events it gets beside the events for everybody. */
  readonly topics: number;
  /** Every event from now on will be delivered, none before this call returns and its caller has run to its end. */
  stands(): void;
  /** Takes a frame of whole messages in UTF-8: the same octets for all that get the same messages. */
  deliver(frame: Uint8Array): void;
  /** No more events will come: the client is to connect again, and will read anew what it shows. */
  interrupted(): void;
}

/** Who watches what is sent. */
interface Watch {
  readonly meter: HubMeter;
  readonly tracer: Tracer;
}

export class Subscriptions {
  readonly #mailboxes: Mailboxes;
  readonly #log: Logger;
  readonly #defer: (flush: () => void) => void;
  readonly #watch: Watch;
  readonly #feeds = new Map<string, Feed>();
  #due: Feed[] = [];

  /** `defer` runs its argument once the current tick's input has been handled. */
  constructor(mailboxes: Mailboxes, log: Logger, defer: (flush: () => void) => void, watch: Partial<Watch> = {}) {
    this.#mailboxes = mailboxes;
    this.#log = log;
    this.#defer = defer;
    this.#watch = { meter: watch.meter ?? NO_METER, tracer: watch.tracer ?? NO_TRACER };
  }

  /** Accounts followed at present. */
  get accounts(): number {
    return this.#feeds.size;
  }

  /** Tells the subscriber once its events stand, at once when they do; false when the account cannot be followed now. */
  join(accountId: string, subscriber: Subscriber): boolean {
    const feed = this.#feeds.get(accountId) ?? this.#open(accountId);
    if (feed === undefined) return false;
    feed.flush();
    feed.subscribers.add(subscriber);
    if (feed.stands) subscriber.stands();
    return true;
  }

  leave(accountId: string, subscriber: Subscriber): void {
    const feed = this.#feeds.get(accountId);
    if (feed === undefined || !feed.subscribers.delete(subscriber) || feed.subscribers.size > 0) return;
    this.#feeds.delete(accountId);
    feed.source.unsubscribe();
  }

  #open(accountId: string): Feed | undefined {
    const feed = new Feed(accountId, this.#log, this.#watch);
    this.#feeds.set(accountId, feed);
    const source = this.#mailboxes
      .of(accountId)
      .events$()
      .subscribe({
        next: (batch) => {
          feed.stand();
          if (feed.take(batch)) this.#schedule(feed);
        },
        error: (err) => {
          this.#log.warn({ err, accountId, connections: feed.subscribers.size }, 'mailbox events were interrupted');
          this.#interrupt(feed);
        },
        complete: () => this.#interrupt(feed),
      });
    feed.source.add(source);
    return this.#feeds.get(accountId) === feed ? feed : undefined;
  }

  #schedule(feed: Feed): void {
    this.#due.push(feed);
    if (this.#due.length > 1) return;
    this.#defer(() => {
      const due = this.#due;
      this.#due = [];
      for (const each of due) each.flush();
    });
  }

  #interrupt(feed: Feed): void {
    if (this.#feeds.get(feed.accountId) === feed) this.#feeds.delete(feed.accountId);
    feed.flush();
    const subscribers = [...feed.subscribers];
    feed.subscribers.clear();
    for (const subscriber of subscribers) subscriber.interrupted();
  }
}

/** One account's subscribers, and what is to be sent to them at the end of the tick. */
class Feed {
  readonly accountId: string;
  readonly subscribers = new Set<Subscriber>();
  readonly source = new Subscription();
  /** Nothing that happens from now on is missed. */
  stands = false;
  readonly #log: Logger;
  readonly #watch: Watch;
  /** Of the changes in `#pending`, when they are traced. */
  readonly #spans: Span[] = [];
  #pending: Told[] = [];
  /** Place of the last unread count in `#pending`, -1 when there is none. */
  #count = -1;

  constructor(accountId: string, log: Logger, watch: Watch) {
    this.accountId = accountId;
    this.#log = log;
    this.#watch = watch;
  }

  stand(): void {
    if (this.stands) return;
    this.stands = true;
    for (const subscriber of this.subscribers) subscriber.stands();
  }

  /** True when this is the first to be sent since the last flush. */
  take(batch: readonly MailboxEvent[]): boolean {
    if (this.subscribers.size === 0) return false;
    const before = this.#pending.length;
    for (const event of batch) {
      const told = eventTexts(event, this.accountId, this.#log);
      if (told.length > 0 && event.type === 'UnreadCountChanged') this.#replaceCount();
      this.#pending.push(...told);
    }
    const { tracer } = this.#watch;
    if (this.#pending.length > before && tracer.current !== undefined) {
      this.#spans.push(tracer.start('hub send', { kind: 'producer' }));
    }
    logDelivered(batch, this.accountId, { connections: this.subscribers.size }, this.#log);
    return before === 0 && this.#pending.length > 0;
  }

  flush(): void {
    const connections = this.subscribers.size;
    for (const span of this.#spans.splice(0)) {
      span.set({ 'mansio.hub.connections': connections });
      span.end();
    }
    if (this.#pending.length === 0) return;
    const pending = this.#pending.filter(({ text }) => text !== '');
    this.#pending = [];
    this.#count = -1;
    const frames = Array.from({ length: TOPIC_SETS }, (_, topics) => ({
      messages: pending.filter(({ topic }) => (topic & ~topics) === 0),
      octets: undefined as Uint8Array | undefined,
      connections: 0,
    }));
    const common = frames[0]!;
    for (const subscriber of this.subscribers) {
      const frame = frames[subscriber.topics]!;
      frame.connections++;
      if (frame.messages.length === 0) continue;
      // Encoded when the first asks for it; what holds nothing beyond the common messages is the same octets.
      const source = frame.messages.length === common.messages.length ? common : frame;
      source.octets ??= frameOf(source.messages);
      subscriber.deliver(source.octets);
    }
    const { meter } = this.#watch;
    for (const { messages, connections: many } of frames) {
      if (messages.length > 0 && many > 0) meter.sent(messages.length, many);
    }
  }

  /** A count that has not left yet is out of date once there is a later one; only the later one is sent. */
  #replaceCount(): void {
    if (this.#count >= 0) this.#pending[this.#count] = { ...this.#pending[this.#count]!, text: '' };
    this.#count = this.#pending.length;
  }
}

function frameOf(messages: readonly { readonly text: string }[]): Uint8Array {
  return Buffer.from(messages.map(({ text }) => text).join(''));
}
