// What a search says of itself: which words look like operators and are none, and that Trash and Junk are left out, with a click to search
// there too.
import './search-notes.css';
import { go } from '../app/router.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { parseSearch } from './search-query.js';

export function SearchNotes() {
  const { list, folders } = useStore();
  const route = list.route.value;
  // Before the folders are known, no name of one is.
  if (route.view !== 'search' || folders.value.length === 0) return null;
  const { q } = route;
  const { query, unknown } = parseSearch(q, folders.value);
  const isWhole = query.folder !== undefined || query.anywhere === true;
  return (
    <div class="search-notes" role="status">
      {unknown.length > 0 && <p>{t('search.unknown', { words: unknown.join(' ') })}</p>}
      {!isWhole && (
        <p>
          {t('search.leftOut')}{' '}
          <button
            type="button"
            class="button is-plain"
            onClick={() => go({ view: 'search', q: `${q} in:anywhere`.trim() })}
          >
            {t('search.anywhere')}
          </button>
        </p>
      )}
    </div>
  );
}
