// The range of a result that a client wants (RFC 9394, `partial-range`).
import type { CommandReader } from '../wire/command-reader.js';

/**
 * Positions from 1; negative positions count from the end, where -1 is the last. Both have the same sign, and `from` is nearer
 * to that end: `500:1` becomes `1:500`.
 */
export interface ResultPage {
  readonly from: number;
  readonly to: number;
}

export function resultPage(reader: CommandReader): ResultPage {
  const sign = reader.accept('-') ? -1 : 1;
  const first = reader.nzNumber();
  reader.expect(sign < 0 ? ':-' : ':');
  const last = reader.nzNumber();
  return { from: sign * Math.min(first, last), to: sign * Math.max(first, last) };
}
