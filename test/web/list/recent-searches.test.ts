// Tests whom the searches of before are offered to, and that what the browser keeps otherwise does no harm.
import { forgetSearches, recentSearches, rememberSearch } from '../../../web/src/list/recent-searches.js';
import test from '../../support/test.js';

function storage() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

test('searches are offered to the account that made them, until its session ends', (t) => {
  const kept = storage();
  rememberSearch(kept, 'ann', 'invoice');
  rememberSearch(kept, 'ann', 'from:zoe');
  t.deepEqual(recentSearches(kept, 'ann'), ['from:zoe', 'invoice']);
  t.deepEqual(recentSearches(kept, 'bob'), []);
  t.deepEqual(recentSearches(kept, undefined), []);
  rememberSearch(kept, undefined, 'nobody');
  rememberSearch(kept, 'bob', 'plan');
  t.deepEqual(recentSearches(kept, 'bob'), ['plan']);
  t.deepEqual(recentSearches(kept, 'ann'), []);
  forgetSearches(kept);
  t.deepEqual(recentSearches(kept, 'bob'), []);
});

test('what cannot be read, or belongs to nobody, is no search', (t) => {
  const kept = storage();
  for (const text of ['{', '["old"]', '7', 'null', '{"accountId":"ann","searches":7}']) {
    kept.setItem('mansio.searches', text);
    t.deepEqual(recentSearches(kept, 'ann'), [], text);
  }
  kept.setItem('mansio.searches', '{"accountId":"ann","searches":[1,"one"]}');
  t.deepEqual(recentSearches(kept, 'ann'), ['one']);
});
