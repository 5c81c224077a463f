// Cursors: a position in an account's event log as text, which a client stores and sends to this node or another one. Pure. The text means
// nothing to clients. It contains a mark of the account, so that cursors of two accounts are not confused. The hub's cursors name the end
// of a change; those of the event stream name one event, of which a change may have many.
import { createHash } from 'node:crypto';
import type { LogPosition } from '../../actors/runtime/ref.js';

/** One of the client events of a change: the number of the record in the change, and of the event in the record, both from 0. */
export interface EventNumber {
  readonly n: number;
  readonly k: number;
}

export interface EventPosition extends LogPosition {
  /** The last event before the position; absent at the end of the change `seq`. */
  readonly within?: EventNumber;
}

/** The form of the cursors of any version; other text is not a cursor. */
const ANY = /^[\w.-]{1,128}$/;
const OURS = /^(\d{1,15})(?:\.(\d{1,9})\.(\d{1,9}))?-(\d{1,15})-([\w-]{8})$/;

export function cursorOf(position: EventPosition, accountId: string): string {
  return cursorsOf(accountId)(position);
}

/** `cursorOf` for many positions of one account. */
export function cursorsOf(accountId: string): (position: EventPosition) => string {
  const mark = markOf(accountId);
  return ({ seq, at, within }) => `${seq}${within === undefined ? '' : `.${within.n}.${within.k}`}-${at}-${mark}`;
}

/** Returns the position; null for a cursor of another account or version; undefined for text that is not a cursor. */
export function positionOf(cursor: string, accountId: string): EventPosition | null | undefined {
  if (!ANY.test(cursor)) return undefined;
  const [, seq, n, k, at, mark] = OURS.exec(cursor) ?? [];
  if (mark !== markOf(accountId)) return null;
  const position = { seq: Number(seq), at: Number(at) };
  return n === undefined ? position : { ...position, within: { n: Number(n), k: Number(k) } };
}

/** The end of the last whole change before the position. */
export function wholeChange({ seq, at, within }: EventPosition): LogPosition {
  return { seq: within === undefined ? seq : Math.max(0, seq - 1), at };
}

/** Whether an event comes after `within` in the same change. */
export function isAfter(event: EventNumber, within: EventNumber): boolean {
  return event.n > within.n || (event.n === within.n && event.k > within.k);
}

function markOf(accountId: string): string {
  return createHash('sha256').update(accountId).digest('base64url').slice(0, 8);
}
