// Ids of single events: the cursor of the event without full stops, because signatures of webhooks separate the id from the next part with
// one (Standard Webhooks). An id is the same at each attempt, and names a position of the log.
import { cursorOf, type EventPosition, positionOf } from './cursor.js';

export function eventIdOf(position: EventPosition, accountId: string): string {
  return cursorOf(position, accountId).replaceAll('.', '_');
}

/** Accepts cursors too. Null for ids of another account, undefined for text that is neither. */
export function positionOfEventId(text: string, accountId: string): EventPosition | null | undefined {
  return positionOf(text.replace(/^(\d+)_(\d+)_(\d+)-/, '$1.$2.$3-'), accountId);
}
