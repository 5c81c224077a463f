// Sets of keywords as lists that always have the same order, so that two sets can be compared.

/** Sorts by lower-case form. */
export function inKeywordOrder(keywords: readonly string[]): readonly string[] {
  if (keywords.length < 2) return keywords;
  const folded = (name: string) => name.toLowerCase();
  return keywords.toSorted((a, b) => (folded(a) < folded(b) ? -1 : 1));
}

export function areSameKeywords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}
