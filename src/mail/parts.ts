// Finding parts in the tree of a message's index.
import type { IndexedPart } from './message-index.js';

/** The part of a section number; undefined when the index does not have it. */
export function partOf(root: IndexedPart, section: string): IndexedPart | undefined {
  const open = [root];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.section === section) return part;
    open.push(...part.parts.toReversed());
  }
  return undefined;
}
