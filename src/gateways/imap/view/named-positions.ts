// Resolves sets of sequence numbers or UIDs to positions. The numbers of ranges and messages bound the cost, however large
// the numbers in the set are.
import { bad, Refused } from '../completion.js';
import { LAST, type SequenceSet } from '../grammar/sequence-set.js';
import { indexOfUid } from './mirror-columns.js';

/** The first position, and the one after the last. */
type Span = readonly [start: number, end: number];

/**
 * Returns the positions of the messages that a set names, ascending, each once.
 * `uids` are those of the messages, valid up to `count`; `saved` is what `$` stands for.
 * @throws Refused BAD when a sequence number is beyond the last message
 */
export function positionsOf(
  uids: Uint32Array,
  count: number,
  set: SequenceSet,
  isUid: boolean,
  saved: readonly number[],
): Uint32Array {
  if (set === '$') return positionsOfUids(uids, count, saved);
  const spans = isUid ? set.map((range) => uidSpan(uids, count, range)) : set.map((range) => numberSpan(count, range));
  return filled(joined(spans.filter(([start, end]) => start < end)));
}

/** `saved` ascends; UIDs that do not exist are skipped. */
function positionsOfUids(uids: Uint32Array, count: number, saved: readonly number[]): Uint32Array {
  const positions = new Uint32Array(Math.min(saved.length, count));
  let to = 0;
  for (const uid of saved) {
    const position = indexOfUid(uids, count, uid);
    if (position < count && uids[position] === uid) positions[to++] = position;
  }
  return positions.subarray(0, to);
}

function numberSpan(count: number, [a, b]: readonly [number, number]): Span {
  const first = a === LAST ? count : a;
  const last = b === LAST ? count : b;
  const most = Math.max(first, last);
  // In an empty mailbox, even `*` names no message (RFC 9051 §9, `seq-number`).
  if (most > count || most === 0) throw new Refused(bad('The set names a message beyond the last one of the mailbox'));
  return [Math.min(first, last) - 1, most];
}

function uidSpan(uids: Uint32Array, count: number, [a, b]: readonly [number, number]): Span {
  const highest = count === 0 ? 0 : uids[count - 1]!;
  const first = a === LAST ? highest : a;
  const last = b === LAST ? highest : b;
  return [indexOfUid(uids, count, Math.min(first, last)), indexOfUid(uids, count, Math.max(first, last) + 1)];
}

/** Sorts the spans and joins those that overlap. */
function joined(spans: readonly Span[]): Span[] {
  const isAscending = spans.every(([start], i) => i === 0 || spans[i - 1]![1] <= start);
  if (isAscending) return [...spans];
  const result: [number, number][] = [];
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

function filled(spans: readonly Span[]): Uint32Array {
  let length = 0;
  for (const [start, end] of spans) length += end - start;
  const positions = new Uint32Array(length);
  let to = 0;
  for (const [start, end] of spans) for (let i = start; i < end; i++) positions[to++] = i;
  return positions;
}
