// The events of one account on this node: one bus subscription for all followers. Packets are hints (decision 0005), so each follower
// passes them through `withoutGaps`, which reads the log where packets are missing. Followers at the same position share a read. A follower
// with a position first reads from there; others start at the newest change.
import type { Logger } from 'pino';
import {
  defer,
  EMPTY,
  finalize,
  map,
  Observable,
  of,
  repeat,
  retry,
  Subject,
  type Subscriber,
  share,
  shareReplay,
  switchMap,
  tap,
} from 'rxjs';
import type { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import type { EventLog } from '../../../store/events.js';
import { type Meter, NO_METER } from '../meter.js';
import { permit$, withPermit } from '../permits.js';
import { SingleFlightReads } from '../single-flight-reads.js';
import { NO_TRACER, type Tracer } from '../tracing.js';
import type { EventPacket, EventRecord, RecheckPacket } from '../transport/packet.js';
import { eventSubject } from '../transport/subjects.js';
import type { Transport } from '../transport/transport.js';
import type { RecentPages } from './recent-pages.js';
import { type LogReading, type LogSegment, UNKNOWN_CHANGES, withoutGaps } from './without-gaps.js';

/** The most changes of a page, each of up to a thousand events; the log cuts a page that would be too large. */
const LOG_PAGE = 100;
const RETRY_MS = 500;
const AGAIN$ = of(true);

/** Shared by all accounts of a node. */
export interface LogFollowerOptions {
  readonly protocolName: string;
  readonly transport: Transport;
  readonly log: EventLog;
  readonly logger: Logger;
  /** Permits for reads that may find nothing. */
  readonly recoveries: FairSemaphore;
  /** Permits for the reads of followers that start. */
  readonly catchUps: FairSemaphore;
  readonly recentPages: RecentPages;
  readonly meter?: Meter;
  /** Followers are called in the trace context of the change. */
  readonly tracer?: Tracer;
}

export class LogFollower {
  readonly shard: number;
  readonly #accountId: string;
  readonly #options: LogFollowerOptions;
  /** Called when the last follower has left and the bus subscription has ended. */
  readonly #closed: () => void;
  /** The segments that arrive from the bus. */
  readonly #segments$ = new Subject<LogSegment>();
  /** The same segments; subscribing shares one bus subscription among all followers. */
  readonly #subscription$: Observable<LogSegment>;
  #newest$: Observable<LogSegment> | undefined;
  #recovery$: Observable<unknown> | undefined;
  #startingReads: SingleFlightReads<LogSegment> | undefined;
  #gapReads: SingleFlightReads<LogSegment> | undefined;
  #subscribed = Promise.resolve();
  #rechecking: NodeJS.Timeout | undefined;
  /** The number of segments that have arrived from the bus. */
  #segments = 0;
  #announced = 0;
  /** The lowest change number before a packet that arrived while the newest change was looked up. */
  #floor = Number.POSITIVE_INFINITY;
  #upToDate = 0;
  #position: number | undefined;

  constructor(options: LogFollowerOptions, accountId: string, shard: number, closed: () => void) {
    this.#accountId = accountId;
    this.shard = shard;
    this.#options = options;
    this.#closed = closed;
    this.#subscription$ = new Observable<LogSegment>((subscriber) => this.#subscribe(subscriber)).pipe(
      share({ connector: () => this.#segments$ }),
    );
  }

  /** See `Ref.events$`. */
  events$(after: number | undefined): Observable<readonly EventRecord[]> {
    return new Observable((subscriber) => {
      let isUpToDate = false;
      const reading: LogReading = {
        start: () => (after === undefined ? this.#now() : this.#backlog(after)),
        read: (position) => this.#readGap(position),
        admit: (read$) => read$.pipe(withPermit(this.#recovery())),
        reached: (position) => {
          if (!isUpToDate) this.#upToDate++;
          isUpToDate = true;
          if (this.#position === undefined || position > this.#position) this.#position = position;
        },
      };
      subscriber.add(() => {
        if (isUpToDate && --this.#upToDate === 0) this.#position = undefined;
      });
      return this.#subscription$.pipe(withoutGaps(reading)).subscribe(subscriber);
    });
  }

  /** The position of the followers that are up to date; undefined when there are none. */
  get position(): number | undefined {
    return this.#position;
  }

  /** The events after a position, if they were read a moment ago. */
  recentPage(after: number): LogSegment | undefined {
    return this.#startingReads?.known(after);
  }

  /** Called when packets may have been missed: reads the log now, and again when other nodes certainly know of this subscription. */
  recheck(): void {
    this.#recheckLater();
    this.#arrive(UNKNOWN_CHANGES);
  }

  #subscribe(subscriber: Subscriber<LogSegment>): () => void {
    const { protocolName, transport, meter = NO_METER, tracer = NO_TRACER } = this.#options;
    const subject = eventSubject(protocolName, this.#accountId);
    const registration = transport.subscribe<EventPacket | RecheckPacket>(subject, (packet) => {
      if ('kind' in packet) return this.#arrive(UNKNOWN_CHANGES);
      meter.received(packet.events.length);
      tracer.within(packet.trace, () => this.#arrive(packet));
    });
    this.#subscribed = registration.ready;
    void registration.ready.then(() => {
      if (!subscriber.closed) this.#recheckLater();
    });
    return () => {
      clearTimeout(this.#rechecking);
      registration.end();
      this.#closed();
    };
  }

  #arrive(segment: LogSegment): void {
    this.#segments++;
    if (segment.after < this.#floor) this.#floor = segment.after;
    if (segment !== UNKNOWN_CHANGES && segment.seq > this.#announced) this.#announced = segment.seq;
    this.#segments$.next(segment);
  }

  #recheckLater(): void {
    const { lagMs } = this.#options.transport;
    clearTimeout(this.#rechecking);
    if (lagMs > 0) this.#rechecking = setTimeout(() => this.#arrive(UNKNOWN_CHANGES), lagMs).unref();
  }

  #now(): Observable<LogSegment> {
    return this.#position === undefined ? this.#newest() : of(emptyAt(this.#position));
  }

  /**
   * Emits the newest change, or the change before the first packet if a packet arrives meanwhile. Looked up once for all waiting followers.
   */
  #newest(): Observable<LogSegment> {
    if (this.#newest$ !== undefined) return this.#newest$;
    const { log, catchUps } = this.#options;
    this.#floor = Number.POSITIVE_INFINITY;
    this.#newest$ = defer(() => this.#subscribed).pipe(
      switchMap(() =>
        this.#reading(() => log.newest(this.#accountId)).pipe(withPermit(permit$(catchUps, this.#accountId))),
      ),
      map((seq) => emptyAt(Math.min(seq, this.#floor))),
      finalize(() => {
        this.#newest$ = undefined;
      }),
      // A follower that begins while another one is called with the change gets it too.
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    return this.#newest$;
  }

  /** One permit for all followers that recover at a time. */
  #recovery(): Observable<unknown> {
    this.#recovery$ ??= permit$(this.#options.recoveries, this.#accountId).pipe(
      finalize(() => {
        this.#recovery$ = undefined;
      }),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    return this.#recovery$;
  }

  #readGap(position: number): Observable<LogSegment> {
    this.#gapReads ??= new SingleFlightReads(
      (after) => this.#page(after),
      () => this.#segments,
    );
    return this.#gapReads.after(position);
  }

  #backlog(after: number): Observable<LogSegment> {
    const { catchUps, recentPages } = this.#options;
    this.#startingReads ??= new SingleFlightReads(
      (position) => this.#page(position).pipe(withPermit(permit$(catchUps, this.#accountId))),
      () => this.#segments,
      recentPages.ofFollower(),
    );
    const reads = this.#startingReads;
    let position = after;
    let isOver = false;
    const page$ = defer(() => reads.after(position)).pipe(
      tap(({ seq, events }) => {
        position = seq;
        isOver = events.length === 0;
      }),
      repeat({ delay: () => (isOver ? EMPTY : AGAIN$) }),
    );
    return defer(() => this.#subscribed).pipe(switchMap(() => page$));
  }

  #page(after: number): Observable<LogSegment> {
    const { log, meter = NO_METER } = this.#options;
    return defer(() => {
      // A change may have no events: an empty page means that the changes announced before it have none.
      const announced = this.#announced;
      return this.#reading(() => log.read(this.#accountId, after, LOG_PAGE)).pipe(
        tap((events) => meter.readFromLog(events.length)),
        map((events) => ({ after, seq: Math.max(after, events.at(-1)?.seq ?? announced), events })),
      );
    });
  }

  /** Retries until the store answers. */
  #reading<T>(read: () => Promise<T>): Observable<T> {
    const { logger } = this.#options;
    return defer(read).pipe(
      retry({
        delay: (err) => {
          logger.warn({ accountId: this.#accountId, err }, 'event log could not be read');
          return inBackground(RETRY_MS);
        },
      }),
    );
  }
}

function emptyAt(seq: number): LogSegment {
  return { after: seq, seq, events: [] };
}

/** Emits after `ms`; the timer does not keep the process alive. */
function inBackground(ms: number): Observable<void> {
  return new Observable((subscriber) => {
    const timer = setTimeout(() => {
      subscriber.next();
      subscriber.complete();
    }, ms).unref();
    return () => clearTimeout(timer);
  });
}
