// The operator that makes one account's changes complete. Segments of the log arrive as they were published: some are lost,
// repeated or early (decision 0005). The operator passes each event once, in the order of the log. It reads the log wherever a segment
// does not join on to the position that the stream has reached.
import {
  concat,
  defer,
  EMPTY,
  exhaustMap,
  type MonoTypeOperatorFunction,
  merge,
  Observable,
  of,
  repeat,
  Subject,
  tap,
} from 'rxjs';
import type { EventRecord } from './packet.js';

/** All events of the changes after number `after`, up to and with number `seq`. A change may have no events. */
export interface LogSegment {
  readonly after: number;
  readonly seq: number;
  readonly events: readonly EventRecord[];
}

/** Says that the log may hold newer changes, and nothing about them. */
export const UNKNOWN_CHANGES: LogSegment = {
  after: Number.POSITIVE_INFINITY,
  seq: Number.POSITIVE_INFINITY,
  events: [],
};

export interface LogReading {
  /** The first segments. The first of them is passed on even when it is empty: the stream is ready then. */
  readonly start$: Observable<LogSegment>;
  /** One segment of the log after the position; without events when the log ends there. */
  read(position: number): Observable<LogSegment>;
  /** Delays a read after `UNKNOWN_CHANGES`, which may find nothing. A read that fills a gap is not delayed. */
  admit(read$: Observable<LogSegment>): Observable<LogSegment>;
}

const AGAIN$ = of(true);

/** The output segments join: each begins where the one before ended. Nothing is buffered. */
export function withoutGaps({ start$, read, admit }: LogReading): MonoTypeOperatorFunction<LogSegment> {
  return (source$) =>
    new Observable((subscriber) => {
      /** Everything up to here has been passed on; undefined until `start$` emits. */
      let position: number | undefined;
      /** The newest change number that the source has named. */
      let announced = 0;
      let isUncertain = false;
      let isReading = true;
      let isEmitting = false;
      const gaps$ = new Subject<void>();
      const hints$ = new Subject<void>();

      const hasGap = () => position !== undefined && announced > position;
      const isBehind = () => isUncertain || hasGap();

      function pass(segment: LogSegment): void {
        const from = position ?? segment.after;
        if (position !== undefined && segment.seq <= position) return;
        position = segment.seq;
        isEmitting = true;
        subscriber.next(segment.after >= from ? segment : restOf(segment, from));
        isEmitting = false;
      }

      const page$ = defer(() => {
        const untilEnd = isUncertain;
        isUncertain = false;
        return read(position ?? 0).pipe(
          tap(({ events }) => {
            isUncertain ||= untilEnd && events.length > 0;
          }),
        );
      });

      /** One read at a time: a read under way goes on as long as the stream is behind. */
      const pages$ = defer(() => {
        if (isReading || !isBehind()) return EMPTY;
        isReading = true;
        return page$.pipe(
          repeat({ delay: () => (isBehind() ? AGAIN$ : EMPTY) }),
          tap({ complete: () => (isReading = false) }),
        );
      });

      const reads$ = merge(
        hints$.pipe(exhaustMap(() => admit(pages$))),
        gaps$.pipe(exhaustMap(() => pages$)),
        concat(
          start$.pipe(tap({ complete: () => (isReading = false) })),
          defer(() => (hasGap() ? pages$ : isUncertain ? admit(pages$) : EMPTY)),
        ),
      );

      function receive(segment: LogSegment): void {
        if (segment === UNKNOWN_CHANGES) {
          isUncertain = true;
          hints$.next();
          return;
        }
        if (segment.seq > announced) announced = segment.seq;
        if (position === undefined || segment.seq <= position) return;
        // A subscriber that causes a segment is not called again before it returns.
        if (isEmitting || segment.after > position) gaps$.next();
        else pass(segment);
      }

      subscriber.add(source$.subscribe({ next: receive, error: (error) => subscriber.error(error) }));
      if (!subscriber.closed)
        subscriber.add(reads$.subscribe({ next: pass, error: (error) => subscriber.error(error) }));
    });
}

function restOf({ seq, events }: LogSegment, position: number): LogSegment {
  return { after: position, seq, events: events.filter((event) => event.seq > position) };
}
