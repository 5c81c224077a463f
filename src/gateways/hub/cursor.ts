// Cursors: a position in an account's event log as text that a client keeps and brings back, to this node or another one.
// Pure. Clients read nothing into them; the mark of the account only keeps them from being mixed up.
import { createHash } from 'node:crypto';
import type { LogPosition } from '../../actors/runtime/ref.js';

/** What a cursor of any version may look like; longer or stranger text is no cursor. */
const ANY = /^[\w.-]{1,128}$/;
const OURS = /^(\d{1,15})-(\d{1,15})-([\w-]{8})$/;

export function cursorOf(position: LogPosition, accountId: string): string {
  return `${position.seq}-${position.at}-${markOf(accountId)}`;
}

/** The position; null for a cursor of another account or version; undefined for what is no cursor at all. */
export function positionOf(cursor: string, accountId: string): LogPosition | null | undefined {
  if (!ANY.test(cursor)) return undefined;
  const [, seq, at, mark] = OURS.exec(cursor) ?? [];
  return mark === markOf(accountId) ? { seq: Number(seq), at: Number(at) } : null;
}

function markOf(accountId: string): string {
  return createHash('sha256').update(accountId).digest('base64url').slice(0, 8);
}
