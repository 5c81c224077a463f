// A database that stalls in the middle of its work finishes the statements that it has received when it continues, even for
// closed connections. So a statement contains a deadline by the database's clock, which passes before any client is told that the
// database does not answer.
import type { Pieces, StatementPiece } from './statement-pieces.js';

/**
 * Returns the deadline for a statement that is sent now: ms since the epoch, by the database's clock; undefined when there is
 * none. @throws StoreFault when nothing may be stored any more
 */
export type CommitDeadline = () => number | undefined;

export const NO_DEADLINE: CommitDeadline = () => undefined;

/** A further condition on the part that all others depend on. `clock_timestamp()` advances while the statement runs. */
export function untilDeadline(sql: Pieces, deadline: number | undefined): StatementPiece {
  if (deadline === undefined) return sql``;
  return sql`and clock_timestamp() < to_timestamp(${deadline}::double precision / 1000)`;
}
