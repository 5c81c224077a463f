// Event streams: the account's log as an observable. Published packets are hints (D5): one that does not join on to what
// was seen makes the stream read the log from there first, so a subscriber never has a gap, a repeat or a wrong order.
import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import type { EventLog } from '../../store/events.js';
import { type Meter, NO_METER } from './meter.js';
import type { EventPacket, EventRecord } from './packet.js';
import { eventSubject } from './subjects.js';
import { NO_TRACER, type Tracer } from './tracing.js';
import type { Registration, Transport } from './transport.js';

/** Changes, each of up to a thousand events. */
const LOG_PAGE = 100;
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
  readonly meter?: Meter;
  /** Subscribers are called in the trace context of the change. */
  readonly tracer?: Tracer;
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

/** One subscriber's place in the log. */
interface Follower {
  readonly subscriber: Subscriber<readonly EventRecord[]>;
  /** Seq of the last event it has; undefined until the stream knows where "now" is. */
  position: number | undefined;
  /** What packets say there is in the log. */
  announced: number;
  reading: boolean;
  /** Something newer than `position` may be in the log. */
  behind: boolean;
}

/** The node's one bus subscription of an account and everybody who follows it. */
class AccountStream {
  readonly #options: EventStreamsOptions;
  readonly #accountId: string;
  readonly #followers = new Set<Follower>();
  readonly #registration: Registration;
  readonly #empty: () => void;
  /** The newest seq this stream has heard of: where a follower who names no position starts. */
  #position: number | undefined;
  #locating = false;
  /** The least `after` of the packets that came while the position was looked up: what they carry is not "before". */
  #floor = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(options: EventStreamsOptions, accountId: string, empty: () => void) {
    this.#options = options;
    this.#accountId = accountId;
    this.#empty = empty;
    const subject = eventSubject(options.protocolName, accountId);
    const { meter = NO_METER, tracer = NO_TRACER } = options;
    this.#registration = options.transport.subscribe<EventPacket>(subject, (packet) => {
      meter.received(packet.events.length);
      tracer.within(packet.trace, () => this.#receive(packet));
    });
  }

  add(subscriber: Subscriber<readonly EventRecord[]>, after: number | undefined): () => void {
    const position = after ?? this.#position;
    const behind = after !== undefined;
    const follower: Follower = { subscriber, position, announced: 0, reading: false, behind };
    this.#followers.add(follower);
    if (behind) void this.#read(follower);
    else if (position === undefined && !this.#locating) void this.#locate();
    return () => {
      if (!this.#followers.delete(follower) || this.#followers.size > 0) return;
      this.#closed = true;
      this.#registration.end();
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
    this.#heardOf(packet.seq);
    if (this.#locating) this.#floor = Math.min(this.#floor, packet.after);
    for (const follower of this.#followers) {
      follower.announced = Math.max(follower.announced, packet.seq);
      if (follower.position !== undefined && packet.seq <= follower.position) continue;
      if (follower.position !== undefined && !follower.reading && packet.after <= follower.position) {
        const { position } = follower;
        const events = packet.after === position ? packet.events : packet.events.filter(({ seq }) => seq > position);
        follower.position = packet.seq;
        if (events.length > 0) follower.subscriber.next(events);
      } else {
        follower.behind = true;
        void this.#read(follower);
      }
    }
  }

  #heardOf(seq: number): void {
    this.#position = Math.max(this.#position ?? 0, seq);
  }

  /**
   * Finds out where "now" is for the followers who came before anything was heard of the account. A packet alone cannot
   * say: commits right before it may have gone unpublished.
   */
  async #locate(): Promise<void> {
    this.#locating = true;
    this.#floor = Number.POSITIVE_INFINITY;
    const newest = await this.#untilDone(() => this.#options.log.newest(this.#accountId));
    this.#locating = false;
    if (newest === undefined) return;
    const start = Math.min(newest, this.#floor);
    this.#heardOf(newest);
    for (const follower of this.#followers) {
      if (follower.position !== undefined) continue;
      follower.position = start;
      void this.#read(follower);
    }
  }

  async #read(follower: Follower): Promise<void> {
    if (follower.reading || follower.position === undefined) return;
    follower.reading = true;
    while (follower.behind && !follower.subscriber.closed) {
      follower.behind = false;
      const { position, announced } = follower;
      const events = await this.#untilDone(() => this.#options.log.read(this.#accountId, position, LOG_PAGE));
      if (events === undefined) break;
      this.#options.meter?.readFromLog(events.length);
      const whole = events.length < LOG_PAGE;
      // Not every change has events: what was announced before a whole read has been seen.
      follower.position = Math.max(position, events.at(-1)?.seq ?? 0, whole ? announced : 0);
      follower.behind ||= !whole;
      this.#heardOf(follower.position);
      if (events.length > 0) follower.subscriber.next(events);
    }
    follower.reading = false;
  }

  /** Undefined when nobody follows any more. */
  async #untilDone<T>(read: () => Promise<T>): Promise<T | undefined> {
    while (!this.#closed) {
      try {
        return await read();
      } catch (error) {
        this.#options.logger.warn({ accountId: this.#accountId, err: error }, 'event log could not be read');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    return undefined;
  }
}
