// A database that stops in the middle of its work carries out what it was sent when it goes on, also for connections that are closed. So a
// statement says until when it may store anything, by the database's clock: before anybody is told that the database does not answer.
import type { Pieces, StatementPiece } from './statement-pieces.js';

/**
 * For a statement that is sent now: ms since the epoch, by the database's clock; undefined when it may store at any time.
 * @throws StoreFault when nothing may be stored any more
 */
export type CommitDeadline = () => number | undefined;

export const NO_DEADLINE: CommitDeadline = () => undefined;

/** A further condition of the part that all others depend on. The clock goes on while the statement is carried out. */
export function untilDeadline(sql: Pieces, deadline: number | undefined): StatementPiece {
  if (deadline === undefined) return sql``;
  return sql`and clock_timestamp() < to_timestamp(${deadline}::double precision / 1000)`;
}
