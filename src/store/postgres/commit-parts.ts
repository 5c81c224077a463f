// What the parts of the statement of a mailbox commit have in common. Each part writes rows of one kind, of all accounts of the
// group that have passed the fence.
import type { Pieces, StatementPiece } from './statement-pieces.js';

/** What of a statement writes rows of one kind. */
export type Part = (sql: Pieces, rows: readonly unknown[]) => StatementPiece;

export const json = (rows: readonly unknown[]) => JSON.stringify(rows);

/**
 * The accounts that passed the fence, as a list. As a join with `passed`, planned without hashes, a part compares each of its rows
 * with each account, and reads the rows once an account.
 */
export const PASSED = '(select ids from passed_ids)::uuid[]';
