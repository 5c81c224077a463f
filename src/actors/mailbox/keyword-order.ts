// Sets of keywords as lists: always written in the same order, so that two of them can be compared.

/** Compares their lower-case forms. */
export function inKeywordOrder(keywords: readonly string[]): readonly string[] {
  if (keywords.length < 2) return keywords;
  const folded = (name: string) => name.toLowerCase();
  return keywords.toSorted((a, b) => (folded(a) < folded(b) ? -1 : 1));
}

export function areSameKeywords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}
