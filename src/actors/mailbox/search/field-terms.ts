// Terms in a single field of the header: the word index narrows the emails down to those that have the words anywhere, and the text of the
// field decides.
import { hasTerm, type SearchField, type SearchTerm, wordsOf } from '../../../mail-format/words/search-text.js';
import type { SearchStore } from '../../../store/search.js';

/** The emails that one statement reads. */
const PAGE = 1_000;

export interface FieldTerms {
  readonly field: SearchField;
  readonly terms: readonly SearchTerm[];
}

/** Returns those of the emails whose field has every term. @throws StoreFault */
export async function haveTerms(
  store: Pick<SearchStore, 'fieldTexts'>,
  accountId: string,
  { field, terms }: FieldTerms,
  emailIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let at = 0; at < emailIds.length; at += PAGE) {
    const texts = await store.fieldTexts(accountId, field, emailIds.slice(at, at + PAGE));
    for (const [id, text] of texts) {
      const words = wordsOf(text);
      if (terms.every((term) => hasTerm(words, term))) found.add(id);
    }
  }
  return found;
}
