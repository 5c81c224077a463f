// Tests which list an address shows.
import type { ListRoute } from '../../../web/src/app/route.js';
import { isSortable, listQueryOf } from '../../../web/src/list/list-query.js';
import test from '../../support/test.js';

const NEWEST = { sort: '-date', filter: 'all', areThreads: false } as const;

test('a folder is listed in the order and with the filter of the reader', (t) => {
  const inbox: ListRoute = { view: 'place', place: 'inbox' };
  t.deepEqual(listQueryOf(inbox, NEWEST, []), { folder: 'inbox', sort: '-date' });
  t.deepEqual(listQueryOf(inbox, { sort: 'from', filter: 'unread', areThreads: true }, []), {
    folder: 'inbox',
    sort: 'from',
    isRead: false,
  });
  t.deepEqual(listQueryOf({ view: 'label', id: 'l1' }, { ...NEWEST, filter: 'flagged' }, []), {
    folder: 'l1',
    sort: '-date',
    isFlagged: true,
  });
});

test('rows are threads in folders and labels, in orders by date, and not among drafts', (t) => {
  const threads = { ...NEWEST, areThreads: true };
  const inbox: ListRoute = { view: 'place', place: 'inbox' };
  t.deepEqual(listQueryOf(inbox, threads, []), { folder: 'inbox', sort: '-date', groupByThread: true });
  t.true(listQueryOf({ view: 'label', id: 'l1' }, { ...threads, sort: 'date' }, []).groupByThread);
  t.deepEqual(listQueryOf({ view: 'place', place: 'drafts' }, threads, []), { folder: 'drafts', sort: '-date' });
});

test('searches have no order: the service refuses one', (t) => {
  const flagged: ListRoute = { view: 'place', place: 'flagged' };
  t.deepEqual(listQueryOf(flagged, { sort: 'from', filter: 'all', areThreads: true }, []), { q: '', isFlagged: true });
  t.deepEqual(
    listQueryOf({ view: 'search', q: 'okapi is:read' }, { sort: 'from', filter: 'all', areThreads: true }, []),
    {
      q: 'okapi',
      isRead: true,
    },
  );
  t.false(isSortable(flagged));
  t.false(isSortable({ view: 'search', q: '' }));
  t.true(isSortable({ view: 'place', place: 'trash' }));
});
