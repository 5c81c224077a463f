// Tests reads of a log that followers at the same position share.

import { Subject } from 'rxjs';
import { SingleFlightReads } from '../../../src/actors/runtime/single-flight-reads.js';
import test from '../../support/test.js';

test('reads from one position are shared while one is under way, unless a segment has arrived since it began', (t) => {
  const begun: [after: number, result$: Subject<string>][] = [];
  let segments = 0;
  const reads = new SingleFlightReads<string>(
    (after) => {
      const result$ = new Subject<string>();
      begun.push([after, result$]);
      return result$;
    },
    () => segments,
  );
  const seen: string[] = [];
  const read = (name: string, after: number) => reads.after(after).subscribe((value) => seen.push(`${name} ${value}`));
  read('a', 7);
  read('b', 7);
  read('c', 8);
  t.deepEqual(
    begun.map(([after]) => after),
    [7, 8],
  );
  segments++;
  read('d', 7);
  t.is(begun.length, 3, 'the read of a and b may not see the change that has arrived');
  begun[0]![1].next('old');
  begun[0]![1].complete();
  read('e', 7);
  t.is(begun.length, 3, 'the end of an older read does not end the sharing of a later one');
  begun[2]![1].next('new');
  begun[2]![1].complete();
  t.deepEqual(seen, ['a old', 'b old', 'd new', 'e new']);
  read('f', 7);
  t.is(begun.length, 4, 'a read that has ended is not shared');
});
