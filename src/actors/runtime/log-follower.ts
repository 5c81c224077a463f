// One account's event stream on this node: its bus subscription and everybody who follows it. Published packets are hints
// (decision 0005): one that does not join on to what was seen makes the stream read the log from there first, so a follower never
// has a gap, a repeat or a wrong order. Those who are up to date go together and share every read; who names a place in
// the log reads alone until it has caught up with them.
import type { Logger } from 'pino';
import type { Subscriber } from 'rxjs';
import type { FairSemaphore } from '../../bounds/fair-semaphore.js';
import type { EventLog } from '../../store/events.js';
import { type Meter, NO_METER } from './meter.js';
import type { EventPacket, EventRecord, LookPacket } from './packet.js';
import { eventSubject } from './subjects.js';
import { NO_TRACER, type Tracer } from './tracing.js';
import type { Registration, Transport } from './transport.js';

/** Changes, each of up to a thousand events. */
const LOG_PAGE = 100;
const RETRY_MS = 500;

export interface LogFollowerOptions {
  readonly protocolName: string;
  readonly accountId: string;
  readonly shard: number;
  readonly transport: Transport;
  readonly log: EventLog;
  readonly logger: Logger;
  /** For reads that only may be needed. */
  readonly recoveries: FairSemaphore;
  /** For the first reads of followers. */
  readonly arrivals: FairSemaphore;
  /** Nobody follows any more: the stream has ended. */
  closed(): void;
  readonly meter?: Meter;
  /** Followers are called in the trace context of the change. */
  readonly tracer?: Tracer;
}

interface Follower {
  readonly subscriber: Subscriber<readonly EventRecord[]>;
  /** Seq of the last event it has; undefined until it is known where "now" is. */
  position: number | undefined;
  /** It has been told that its stream stands. */
  stands: boolean;
  /** It goes with the others. */
  live: boolean;
}

export class LogFollower {
  readonly shard: number;
  readonly #options: LogFollowerOptions;
  readonly #followers = new Set<Follower>();
  readonly #registration: Registration;
  /** Seq up to which those who are up to date have everything; undefined until there is one. */
  #place: number | undefined;
  /** What packets say there is in the log. */
  #announced = 0;
  /** Something newer than `#place` may be in the log. */
  #behind = false;
  #reading = false;
  #emitting = false;
  #recovering = false;
  #locating = false;
  /** The least `after` of the packets that came while "now" was looked up: what they carry is not before it. */
  #floor = Number.POSITIVE_INFINITY;
  #lookingAgain: NodeJS.Timeout | undefined;

  constructor(options: LogFollowerOptions) {
    this.shard = options.shard;
    this.#options = options;
    const subject = eventSubject(options.protocolName, options.accountId);
    const { meter = NO_METER, tracer = NO_TRACER } = options;
    this.#registration = options.transport.subscribe<EventPacket | LookPacket>(subject, (packet) => {
      if ('kind' in packet) return this.#readSoon();
      meter.received(packet.events.length);
      tracer.within(packet.trace, () => this.#receive(packet));
    });
    void this.#registration.standing.then(() => this.#lookAgain());
  }

  get #isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  add(subscriber: Subscriber<readonly EventRecord[]>, after: number | undefined): () => void {
    const follower: Follower = { subscriber, position: after, stands: false, live: false };
    this.#followers.add(follower);
    if (after !== undefined) void this.#catchUp(follower);
    else if (this.#place !== undefined) this.#start(follower, this.#place);
    else if (!this.#locating) void this.#locate();
    return () => {
      if (!this.#followers.delete(follower) || this.#followers.size > 0) return;
      this.#registration.end();
      clearTimeout(this.#lookingAgain);
      this.#options.closed();
    };
  }

  /** Packets may have been missed. What joins on goes out as before, and what does not is read at once. */
  recover(): void {
    this.#lookAgain();
    this.#readSoon();
  }

  /** Other nodes may not have heard yet that somebody listens here. */
  #lookAgain(): void {
    const { lagMs } = this.#options.transport;
    clearTimeout(this.#lookingAgain);
    if (lagMs > 0 && this.#isFollowed) this.#lookingAgain = setTimeout(() => this.#readSoon(), lagMs).unref();
  }

  #readSoon(): void {
    this.#behind = true;
    if (this.#recovering) return;
    this.#recovering = true;
    const { recoveries, accountId } = this.#options;
    void recoveries.run(accountId, () => {
      this.#recovering = false;
      return this.#readOn();
    });
  }

  #receive(packet: EventPacket): void {
    this.#announced = Math.max(this.#announced, packet.seq);
    if (this.#locating) this.#floor = Math.min(this.#floor, packet.after);
    const place = this.#place;
    if (place === undefined || packet.seq <= place) return;
    if (this.#emitting || packet.after > place) {
      this.#behind = true;
      void this.#readOn();
      return;
    }
    this.#place = packet.seq;
    this.#emit(packet.after === place ? packet.events : packet.events.filter(({ seq }) => seq > place));
  }

  #emit(events: readonly EventRecord[]): void {
    if (events.length === 0) return;
    const [first, last] = [events[0]!.seq, events.at(-1)!.seq];
    this.#emitting = true;
    for (const follower of this.#followers) {
      const { live, position, subscriber } = follower;
      // Who has just caught up may be ahead of the others.
      if (!live || position === undefined || last <= position) continue;
      follower.position = last;
      subscriber.next(first > position ? events : events.filter(({ seq }) => seq > position));
    }
    this.#emitting = false;
  }

  /**
   * Finds out where "now" is for the followers who came before anybody was up to date. A packet alone cannot say: commits
   * right before it may have gone unpublished.
   */
  async #locate(): Promise<void> {
    this.#locating = true;
    this.#floor = Number.POSITIVE_INFINITY;
    const { log, accountId, arrivals } = this.#options;
    await this.#registration.standing;
    let newest: number | undefined;
    while (newest === undefined && this.#isFollowed) {
      newest = await arrivals.run(accountId, async () =>
        this.#isFollowed ? this.#attempt(() => log.newest(accountId)) : undefined,
      );
    }
    this.#locating = false;
    if (newest === undefined) return;
    const start = Math.min(newest, this.#floor);
    for (const follower of this.#followers) if (follower.position === undefined) this.#start(follower, start);
  }

  #start(follower: Follower, position: number): void {
    follower.position = position;
    follower.stands = true;
    follower.subscriber.next([]);
    this.#join(follower);
  }

  /** To the others, when it has what they have. */
  #join(follower: Follower): void {
    const { position } = follower;
    if (position === undefined || !this.#followers.has(follower)) return;
    if (this.#place === undefined) {
      this.#place = position;
      this.#behind ||= this.#announced > position;
    }
    if (position < this.#place) {
      void this.#catchUp(follower);
      return;
    }
    follower.live = true;
    if (this.#behind && !this.#recovering) void this.#readOn();
  }

  async #catchUp(follower: Follower): Promise<void> {
    const { arrivals, accountId } = this.#options;
    await this.#registration.standing;
    while (this.#followers.has(follower)) {
      const page = await arrivals.run(accountId, () => this.#page(follower.position ?? 0, follower));
      if (page === undefined || !this.#followers.has(follower)) continue;
      follower.position = page.position;
      if (page.events.length > 0 || !follower.stands) {
        follower.stands = true;
        follower.subscriber.next(page.events);
      }
      if (page.isLast) return this.#join(follower);
    }
  }

  async #readOn(): Promise<void> {
    if (this.#reading || this.#place === undefined) return;
    this.#reading = true;
    let failed = false;
    while (this.#behind) {
      this.#behind = false;
      const page = await this.#page(this.#place);
      if (page === undefined) {
        failed = true;
        break;
      }
      // Packets that joined on have gone out meanwhile.
      this.#place = Math.max(this.#place, page.position);
      this.#behind ||= !page.isLast;
      this.#emit(page.events);
    }
    this.#reading = false;
    if (failed && this.#isFollowed) this.#readSoon();
  }

  /** For one follower, or for all. */
  async #page(after: number, follower?: Follower) {
    const { log, accountId } = this.#options;
    if (follower === undefined ? !this.#isFollowed : !this.#followers.has(follower)) return undefined;
    // Not every change has events: what was known of before a last page has been seen.
    const known = Math.max(this.#announced, this.#place ?? 0);
    const events = await this.#attempt(() => log.read(accountId, after, LOG_PAGE));
    if (events === undefined) return undefined;
    this.#options.meter?.readFromLog(events.length);
    const isLast = events.length < LOG_PAGE;
    const position = Math.max(after, events.at(-1)?.seq ?? 0, isLast ? known : 0);
    return { events, position, isLast };
  }

  /** Undefined when it failed; then some time has passed, because the next one may fail as well. */
  async #attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      this.#options.logger.warn({ accountId: this.#options.accountId, err: error }, 'event log could not be read');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      return undefined;
    }
  }
}
