// Sets of sequence numbers or UIDs in the syntax of clients (RFC 9051 §9, `sequence-set`).
import type { CommandReader } from '../wire/command-reader.js';

/** `*` means the last message. */
export const LAST = Number.POSITIVE_INFINITY;

/** The range as written: the first number may be greater than the last; either may be `LAST`. */
export type SequenceRange = readonly [first: number, last: number];

/** `$` is the saved result of a search (RFC 5182, RFC 9051 §6.4.4.1). */
export type SequenceSet = readonly SequenceRange[] | '$';

export function sequenceSet(reader: CommandReader): SequenceSet {
  return reader.accept('$') ? '$' : ranges(reader, messageNumber);
}

/** `known-uids`: a set without `*` and `$` (RFC 7162 §7). */
export const knownSet = (reader: CommandReader): readonly SequenceRange[] =>
  ranges(reader, (numbers) => numbers.nzNumber());

/** `seq-number`: a number from 1 on, or `*`. */
export const messageNumber = (reader: CommandReader): number => (reader.accept('*') ? LAST : reader.nzNumber());

function ranges(reader: CommandReader, number: (reader: CommandReader) => number): SequenceRange[] {
  const { sequenceRanges } = reader.limits;
  const found: SequenceRange[] = [];
  do {
    if (found.length === sequenceRanges) throw reader.fault(`expected no more than ${sequenceRanges} ranges`);
    const first = number(reader);
    found.push([first, reader.accept(':') ? number(reader) : first]);
  } while (reader.accept(','));
  return found;
}
