// The events of one account on this node: one bus subscription for all followers. Packets are hints (decision 0005), so each follower
// passes them through `withoutGaps` and reads the log where packets are missing. Followers at the same position share the
// read. A follower that names a position reads on from there first; the others start at the newest change.
import type { Logger } from 'pino';
import {
  defer,
  EMPTY,
  filter,
  finalize,
  map,
  merge,
  min,
  Observable,
  of,
  repeat,
  retry,
  share,
  shareReplay,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import type { FairSemaphore } from '../../bounds/fair-semaphore.js';
import type { EventLog } from '../../store/events.js';
import { type Meter, NO_METER } from './meter.js';
import type { EventPacket, EventRecord, RecheckPacket } from './packet.js';
import { permit$, withPermit } from './permits.js';
import { SharedReads } from './shared-reads.js';
import { eventSubject } from './subjects.js';
import { NO_TRACER, type Tracer } from './tracing.js';
import type { Transport } from './transport.js';
import { type LogSegment, UNKNOWN_CHANGES, withoutGaps } from './without-gaps.js';

/** Changes, each of up to a thousand events; the log cuts a page that would be too large. */
const LOG_PAGE = 100;
const RETRY_MS = 500;
const AGAIN$ = of(true);

export interface LogFollowerOptions {
  readonly protocolName: string;
  readonly accountId: string;
  readonly transport: Transport;
  readonly log: EventLog;
  readonly logger: Logger;
  /** Emits when packets of the account may have been missed. */
  readonly missed$: Observable<unknown>;
  /** Permits for reads that only may find something. */
  readonly recoveries: FairSemaphore;
  /** Permits for the reads of followers that start. */
  readonly catchUps: FairSemaphore;
  /** The last follower has left, and the bus subscription has ended. */
  closed(): void;
  readonly meter?: Meter;
  /** Followers are called in the trace context of the change. */
  readonly tracer?: Tracer;
}

export class LogFollower {
  readonly #options: LogFollowerOptions;
  /** What the bus says of the account's changes. */
  readonly #segments$: Observable<LogSegment>;
  readonly #startingReads: SharedReads<LogSegment>;
  readonly #gapReads: SharedReads<LogSegment>;
  /** The number of the newest change, or of one before it when a packet has already brought later ones. */
  readonly #newest$: Observable<number>;
  /** One permit for all followers that recover at a time. */
  readonly #recovery$: Observable<void>;
  #subscribed = Promise.resolve();
  #segmentsSoFar = 0;
  #announced = 0;
  #upToDate = 0;
  /** The position that the followers which are up to date have reached; undefined while there are none. */
  #position: number | undefined;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    const { accountId, catchUps, recoveries, log } = options;
    const starting = <T>() => withPermit<T>(permit$(catchUps, accountId));
    const segmentsSoFar = () => this.#segmentsSoFar;
    this.#segments$ = merge(this.#packets(), this.#hints()).pipe(
      tap((segment) => this.#note(segment)),
      finalize(() => options.closed()),
      share(),
    );
    this.#gapReads = new SharedReads((after) => this.#page(after), segmentsSoFar);
    this.#startingReads = new SharedReads((after) => this.#page(after).pipe(starting()), segmentsSoFar);
    this.#recovery$ = permit$(recoveries, accountId).pipe(shareReplay({ bufferSize: 1, refCount: true }));
    const newest$ = defer(() => this.#subscribed).pipe(
      switchMap(() => this.#reading(() => log.newest(accountId)).pipe(starting())),
      share(),
    );
    const meanwhile$ = this.#segments$.pipe(
      map(({ after }) => after),
      takeUntil(newest$),
    );
    this.#newest$ = merge(meanwhile$, newest$).pipe(min(), share());
  }

  /** As `Ref.events$`. */
  events$(after: number | undefined): Observable<readonly EventRecord[]> {
    return defer(() => {
      let isUpToDate = false;
      let position = 0;
      const reached = (seq: number) => {
        position = seq;
        if (isUpToDate) this.#position = Math.max(this.#position ?? 0, position);
      };
      const caughtUp = () => {
        isUpToDate = true;
        this.#upToDate++;
        reached(position);
      };
      const left = () => {
        if (isUpToDate && --this.#upToDate === 0) this.#position = undefined;
      };
      const start$ = (after === undefined ? this.#now() : this.#backlog(after)).pipe(
        tap({ next: ({ seq }) => reached(seq), complete: caughtUp }),
      );
      return this.#segments$.pipe(
        withoutGaps({
          start$,
          read: (seq) => this.#gapReads.after(seq),
          admit: (read$) => read$.pipe(withPermit(this.#recovery$)),
        }),
        tap(({ seq }) => reached(seq)),
        finalize(left),
        filter(({ events }, index) => index === 0 || events.length > 0),
        map(({ events }) => events),
      );
    });
  }

  #packets(): Observable<LogSegment> {
    const { protocolName, accountId, transport, meter = NO_METER, tracer = NO_TRACER } = this.#options;
    return new Observable((subscriber) => {
      const subject = eventSubject(protocolName, accountId);
      const registration = transport.subscribe<EventPacket | RecheckPacket>(subject, (packet) => {
        if ('kind' in packet) return subscriber.next(UNKNOWN_CHANGES);
        meter.received(packet.events.length);
        tracer.within(packet.trace, () => subscriber.next(packet));
      });
      this.#subscribed = registration.ready;
      return () => registration.end();
    });
  }

  /** After a break, and once other nodes know for certain that this one subscribes. */
  #hints(): Observable<LogSegment> {
    const { missed$, transport } = this.#options;
    const subscribed$ = defer(() => this.#subscribed);
    const late$ = merge(subscribed$, missed$).pipe(
      switchMap(() => (transport.lagMs > 0 ? inBackground(transport.lagMs) : EMPTY)),
    );
    return merge(missed$, late$).pipe(map(() => UNKNOWN_CHANGES));
  }

  #note({ seq }: LogSegment): void {
    this.#segmentsSoFar++;
    if (Number.isFinite(seq) && seq > this.#announced) this.#announced = seq;
  }

  #now(): Observable<LogSegment> {
    const seq$ = this.#position === undefined ? this.#newest$ : of(this.#position);
    return seq$.pipe(map((seq) => ({ after: seq, seq, events: [] })));
  }

  #backlog(after: number): Observable<LogSegment> {
    let position = after;
    let isOver = false;
    const page$ = defer(() => this.#startingReads.after(position)).pipe(
      tap(({ seq, events }) => {
        position = seq;
        isOver = events.length === 0;
      }),
      repeat({ delay: () => (isOver ? EMPTY : AGAIN$) }),
    );
    return defer(() => this.#subscribed).pipe(switchMap(() => page$));
  }

  #page(after: number): Observable<LogSegment> {
    const { log, accountId, meter = NO_METER } = this.#options;
    return defer(() => {
      // A change may have no events: the log has nothing of the changes that were announced before an empty page.
      const announced = this.#announced;
      return this.#reading(() => log.read(accountId, after, LOG_PAGE)).pipe(
        tap((events) => meter.readFromLog(events.length)),
        map((events) => ({ after, seq: Math.max(after, events.at(-1)?.seq ?? announced), events })),
      );
    });
  }

  /** Tries again until the store answers. */
  #reading<T>(read: () => Promise<T>): Observable<T> {
    const { logger, accountId } = this.#options;
    return defer(read).pipe(
      retry({
        delay: (err) => {
          logger.warn({ accountId, err }, 'event log could not be read');
          return inBackground(RETRY_MS);
        },
      }),
    );
  }
}

/** Emits after the time, and keeps no process alive until then. */
function inBackground(ms: number): Observable<void> {
  return new Observable((subscriber) => {
    const timer = setTimeout(() => {
      subscriber.next();
      subscriber.complete();
    }, ms).unref();
    return () => clearTimeout(timer);
  });
}
