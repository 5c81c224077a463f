// The order of the words of an email in few octets, kept in the row itself: an octet a word. Most emails that have the words
// of a phrase, but not one after the other, are told by it; only what is left is looked at in the tsvector, which lies
// elsewhere and costs a multiple to fetch. Several words share an octet, so a phrase that is found may not be there, and
// one that is there is always found.

/** With the ends of fields. Longer orders would make the rows that a frequent word reads too large. */
const MOST_WORDS = 512;
/** Of no word: where a field ends. */
const FIELD_END = 0;

function octetOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 16;
  return Math.max(FIELD_END + 1, hash & 0xff);
}

/** Undefined for an email that is too long. */
export function wordOrder(fields: readonly (readonly string[])[]): Uint8Array | undefined {
  const count = fields.reduce((sum, { length }) => sum + length + 1, 0);
  if (count > MOST_WORDS) return undefined;
  const order = new Uint8Array(count);
  let at = 0;
  for (const words of fields) {
    for (const word of words) order[at++] = octetOf(word);
    order[at++] = FIELD_END;
  }
  return order;
}

/** What the order of an email holds when these words follow one another in a field. */
export function phraseOrder(words: readonly string[]): Uint8Array {
  return Uint8Array.from(words, octetOf);
}
