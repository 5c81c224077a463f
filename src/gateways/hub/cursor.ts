// Cursors: a position in an account's event log as text, which a client keeps and gives to this node or another one. Pure.
// The text means nothing to clients. It has a mark of the account, so that cursors of two accounts are not confused.
import { createHash } from 'node:crypto';
import type { LogPosition } from '../../actors/runtime/ref.js';

/** The form of cursors of any version; other text is no cursor. */
const ANY = /^[\w.-]{1,128}$/;
const OURS = /^(\d{1,15})-(\d{1,15})-([\w-]{8})$/;

export function cursorOf(position: LogPosition, accountId: string): string {
  return `${position.seq}-${position.at}-${markOf(accountId)}`;
}

/** The position; null for a cursor of another account or version; undefined for text that is no cursor. */
export function positionOf(cursor: string, accountId: string): LogPosition | null | undefined {
  if (!ANY.test(cursor)) return undefined;
  const [, seq, at, mark] = OURS.exec(cursor) ?? [];
  return mark === markOf(accountId) ? { seq: Number(seq), at: Number(at) } : null;
}

function markOf(accountId: string): string {
  return createHash('sha256').update(accountId).digest('base64url').slice(0, 8);
}
