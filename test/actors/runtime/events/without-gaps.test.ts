// Tests only the operator that completes one account's changes: the test controls the source of segments and the log.

import fc from 'fast-check';
import { defer, from, NEVER, Observable, of, Subject, switchMap } from 'rxjs';
import {
  type LogReading,
  type LogSegment,
  UNKNOWN_CHANGES,
  withoutGaps,
} from '../../../../src/actors/runtime/events/without-gaps.js';
import type { EventRecord } from '../../../../src/actors/runtime/transport/packet.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { turn } from '../../../support/turns.js';

const events = (after: number, seq: number): EventRecord[] =>
  Array.from({ length: seq - after }, (_, i) => ({ seq: after + 1 + i, n: 0, type: 'Tested', at: 0, payload: null }));
const segment = (after: number, seq: number): LogSegment => ({ after, seq, events: events(after, seq) });

/** A log of `length` changes, read in pages of three; a read is answered after a turn. */
class Log {
  length = 0;
  readonly reads: number[] = [];

  read(after: number): Observable<LogSegment> {
    return defer(async () => {
      this.reads.push(after);
      await turn();
      return segment(after, Math.max(after, Math.min(this.length, after + 3)));
    });
  }
}

function setUp(parts: Partial<LogReading> = {}, start$: Observable<LogSegment> = of(segment(0, 0))) {
  const log = new Log();
  const source$ = new Subject<LogSegment>();
  const passed: (readonly EventRecord[])[] = [];
  const reading: LogReading = {
    start: () => start$,
    read: (after) => log.read(after),
    admit: (read$) => read$,
    reached: () => {},
  };
  source$.pipe(withoutGaps({ ...reading, ...parts })).subscribe((each) => passed.push(each));
  const seqs = () => passed.flatMap((each) => each.map(({ seq }) => seq));
  return { log, source$, passed, seqs };
}

const upTo = (seq: number) => events(0, seq).map((event) => event.seq);

test('after UNKNOWN_CHANGES the log is read to its end, once the read is admitted', async (t) => {
  const admitted$ = new Subject<void>();
  const { log, source$, seqs } = setUp({ admit: (read$) => admitted$.pipe(switchMap(() => read$)) });
  log.length = 4;
  source$.next(UNKNOWN_CHANGES);
  source$.next(UNKNOWN_CHANGES);
  await turn();
  t.deepEqual(log.reads, []);
  admitted$.next();
  for (let i = 0; i < 10; i++) await turn();
  t.deepEqual([seqs(), log.reads], [upTo(4), [0, 3, 4]]);
});

test('a subscriber that causes a segment is not called again before it returns', async (t) => {
  const log = new Log();
  const source$ = new Subject<LogSegment>();
  let depth = 0;
  const seen: number[] = [];
  const reading = {
    start: () => of(segment(0, 0)),
    read: (after: number) => log.read(after),
    admit: () => NEVER,
    reached: () => {},
  };
  source$.pipe(withoutGaps(reading)).subscribe((each) => {
    t.is(++depth, 1);
    if (each[0]?.seq === 1) {
      log.length = 2;
      source$.next(segment(1, 2));
    }
    seen.push(...each.map(({ seq }) => seq));
    depth--;
  });
  log.length = 1;
  source$.next(segment(0, 1));
  for (let i = 0; i < 5; i++) await turn();
  t.deepEqual(seen, [1, 2]);
});

test('whoever unsubscribes ends the source, the start and the read under way', async (t) => {
  const ended: string[] = [];
  const open = (name: string) => new Observable<LogSegment>(() => () => ended.push(name));
  const source$ = new Subject<LogSegment>();
  const start$ = of(segment(0, 0));
  const following = source$
    .pipe(
      withoutGaps({ start: () => start$, read: () => open('read'), admit: () => open('admission'), reached: () => {} }),
    )
    .subscribe();
  source$.next(UNKNOWN_CHANGES);
  source$.next(segment(4, 5));
  following.unsubscribe();
  t.deepEqual(ended.sort(), ['admission', 'read']);
  t.false(source$.observed);
  const starting = source$.pipe(
    withoutGaps({ start: () => open('start'), read: () => NEVER, admit: () => NEVER, reached: () => {} }),
  );
  starting.subscribe().unsubscribe();
  t.true(ended.includes('start'));
});

test('whatever arrives, and whenever, each event is passed on once and in order', async (t) => {
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('sent', 'lost', 'repeated'), count: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ kind: fc.constantFrom('hint', 'unknown', 'turn') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat({ max: 3 }), async (steps, startTurns) => {
      const start$ = from(
        (async () => {
          for (let i = 0; i < startTurns; i++) await turn();
          return segment(0, 0);
        })(),
      );
      const { log, source$, passed, seqs } = setUp({}, start$);
      for (const each of steps) {
        const after = log.length;
        if ('count' in each) {
          log.length += each.count;
          if (each.kind !== 'lost') source$.next(segment(after, log.length));
          if (each.kind === 'repeated') source$.next(segment(after, log.length));
        } else if (each.kind === 'hint') source$.next({ after, seq: after, events: [] });
        else if (each.kind === 'unknown') source$.next(UNKNOWN_CHANGES);
        else if (each.kind === 'turn') await turn();
      }
      source$.next(UNKNOWN_CHANGES);
      for (let i = 0; i < 120; i++) await turn();
      t.deepEqual(seqs(), upTo(log.length));
      t.true(passed.slice(1).every((each) => each.length > 0));
    }),
    { numRuns: runs(200) },
  );
});
