// The part of a result that a client wants (RFC 9394, `partial-range`).
import type { CommandReader } from '../wire/command-reader.js';

/**
 * By position from 1; negative positions count from the end, -1 being the last. Both are of one sign, and `from` is the one
 * nearer to that end: `500:1` is `1:500`.
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
