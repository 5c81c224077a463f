// Tells whether an event log, which is pruned by age and length, still has all changes after a position. Pure.
import { EVENT_LOG_AGE_MS, EVENT_LOG_LENGTH } from '../../../store/events.js';
import type { LogPosition } from '../ref.js';

/** Safety margins of the age and the length: clocks of nodes differ, and pruning continues while the rest is read. */
const SPARE_MS = 3_600_000;
const SPARE_CHANGES = EVENT_LOG_LENGTH / 10;

/** Also returns false for positions that the log, which ends at seq `newest`, never had. */
export function isKept(position: LogPosition, newest: number, now: number): boolean {
  const behind = newest - position.seq;
  const age = now - position.at;
  return (
    behind >= 0 && behind <= EVENT_LOG_LENGTH - SPARE_CHANGES && age >= -SPARE_MS && age <= EVENT_LOG_AGE_MS - SPARE_MS
  );
}
