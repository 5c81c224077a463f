// Finds parts in the tree of a message's index.
import type { EnclosedText, IndexedPart } from './message-index.js';

/** Returns the part with a section number; undefined when the index does not have it. */
export function partOf(root: IndexedPart, section: string): IndexedPart | undefined {
  const open = [root];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.section === section) return part;
    open.push(...part.parts.toReversed());
  }
  return undefined;
}

/** A text of a body: a part, or a text within a part. */
export type TextSource = Pick<IndexedPart, 'section' | 'subtype' | 'params' | 'encoding' | 'bodyStart' | 'bodyEnd'> &
  Partial<Pick<EnclosedText, 'within'>>;

/** Returns the texts within a part, with the octets of the part. */
export function enclosedSources({ enclosed = [], encoding, bodyStart, bodyEnd }: IndexedPart): TextSource[] {
  return enclosed.map((text) => ({ ...text, encoding, bodyStart, bodyEnd }));
}
