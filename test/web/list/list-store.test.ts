// Tests what is selected in a list with a row per conversation: emails, those of whole rows, loaded or not.
import { signal } from '@preact/signals';
import { of } from 'rxjs';
import {
  type EmailListItem,
  type FoundEmails,
  type ListQuery,
  type MansioClient,
  NetworkFault,
} from '../../../src/client/index.js';
import { ListStore } from '../../../web/src/list/list-store.js';
import { emailItem } from '../../client/lists/list-server.js';
import test from '../../support/test.js';

type Row = readonly string[];

const rowOf = (emails: Row): EmailListItem =>
  emailItem(
    { id: emails[0]!, isRead: false },
    emails.length === 1 ? {} : { thread: { senders: [], count: emails.length, emails: named(emails).map(inRow) } },
  );

/** Rows name two emails: the newest and the first one. */
const named = (emails: Row): Row => (emails.length > 2 ? [emails[0]!, emails.at(-1)!] : emails);

const inRow = (id: string) => ({ id, isRead: false, isFlagged: false, folderIds: ['inbox-id'] });

/** The store of a list of these rows, of which the first ones are loaded. */
function shownList({ rows, loaded }: { readonly rows: readonly Row[]; readonly loaded: readonly Row[] }) {
  const asked: unknown[] = [];
  const server = { isAway: false };
  const client = {
    list: () => of({ total: rows.length, unread: 0, start: 0, items: loaded.map(rowOf), isLoading: false }),
    found: (query: Omit<ListQuery, 'threadId'>, rowsOf?: Row) => {
      asked.push(rowsOf ?? query);
      if (server.isAway) return Promise.reject(new NetworkFault('No network'));
      return Promise.resolve(
        foundIn(rows.filter((row) => rowsOf === undefined || row.some((id) => rowsOf.includes(id)))),
      );
    },
  } as unknown as MansioClient;
  const store = new ListStore(client, signal([]), signal('-date' as const), signal(true));
  store.follow();
  return { store, asked, server };
}

/** What is found comes in groups, and so not in the order of the rows. */
function foundIn(rows: readonly Row[]): FoundEmails {
  const ids = rows.flat().toReversed();
  return {
    total: ids.length,
    ids,
    find: (id) => (ids.includes(id) ? { isRead: true, isFlagged: false, folderIds: ['inbox-id'] } : undefined),
    thread: (id) => rows.find((row) => row.includes(id) && row.length > 1),
  };
}

const ROWS = [['a3', 'a2', 'a1'], ['b1'], ['c2', 'c1'], ['d1']];

const selectedIn = ({ selected }: ListStore) => [...selected.value].toSorted();

test('a row is selected and left out with all of its emails', async (t) => {
  const { store } = shownList({ rows: ROWS, loaded: ROWS });
  await store.toggle('a3');
  t.deepEqual(selectedIn(store), ['a1', 'a2', 'a3']);
  await store.selectTo('c2');
  t.deepEqual(selectedIn(store), ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']);
  t.false(store.isWholeSelected);
  await store.toggle('a1');
  t.deepEqual(selectedIn(store), ['b1', 'c1', 'c2']);
  await store.selectLoaded();
  t.deepEqual(selectedIn(store), ROWS.flat().toSorted());
  t.true(store.isWholeSelected);
});

test('the whole list is the emails that the server has named, and a row less is all of its emails', async (t) => {
  const { store, asked } = shownList({ rows: ROWS, loaded: ROWS.slice(0, 2) });
  await store.toggle('b1');
  t.false(store.isWholeSelected);
  await store.selectAll();
  t.deepEqual(asked, [{ folder: 'inbox', sort: '-date', groupByThread: true }]);
  t.deepEqual(selectedIn(store), ROWS.flat().toSorted());
  t.deepEqual(
    store
      .byRows([...store.selected.value])
      .map(([newest, ...others]) => [newest, ...others.toSorted().reverse()])
      .toSorted(),
    ROWS,
  );
  await store.toggle('a3');
  t.deepEqual(selectedIn(store), ['b1', 'c1', 'c2', 'd1']);
  t.like(store.known('c1'), { isRead: true });
});

test('an email that comes after the selection is not selected, and its row is left out with what was found', async (t) => {
  const { store } = shownList({ rows: ROWS, loaded: [['a4', 'a3'], ['b1']] });
  await store.selectAll();
  t.deepEqual(selectedIn(store), ROWS.flat().toSorted());
  t.deepEqual(store.byRows(['a1', 'a3', 'b1']), [['a3', 'a1'], ['b1']]);
  await store.toggle('a4');
  t.deepEqual(selectedIn(store), ['b1', 'c1', 'c2', 'd1']);
});

test('a row that names some of its emails is selected and acted on with all of them', async (t) => {
  const { store, asked } = shownList({ rows: ROWS, loaded: ROWS });
  t.deepEqual([store.areCut(['b1', 'c2']), store.areCut(['a3']), store.areCut(['a1'])], [false, true, true]);
  t.deepEqual(store.emailsOfRows(['c1', 'a3']), ['c2', 'c1', 'a3', 'a1']);
  t.deepEqual(await store.wholeRows(['c1', 'a3']), ['c2', 'c1', 'a3', 'a1', 'a2']);
  t.deepEqual(asked, [['a3']]);
  t.like(store.known('a2'), { isRead: true });
  await store.toggle('b1');
  t.is(asked.length, 1);
  await store.toggle('a3');
  t.deepEqual(selectedIn(store), ['a1', 'a2', 'a3', 'b1']);
  t.deepEqual(asked, [['a3'], ['a3']]);
  await store.toggle('a1');
  t.deepEqual(selectedIn(store), ['b1']);
});

test('the rest of a row that cannot be read now belongs to its action without a name', async (t) => {
  const { store, server } = shownList({ rows: ROWS, loaded: ROWS });
  // It may have been read before.
  await store.wholeRows(['a3']);
  server.isAway = true;
  t.deepEqual(await store.wholeRows(['b1', 'a3']), ['b1', 'a3', 'a1']);
  t.is(store.countOf(['b1', 'a3', 'a1']), 4);
  const query = { folder: 'inbox', sort: '-date', groupByThread: true };
  t.deepEqual(store.forAction(['b1', 'a3', 'a1']).unnamed, { query, items: [['a3', 'a1']] });
  t.deepEqual([store.countOf(['a3']), store.forAction(['a3']).unnamed], [1, undefined], 'one email of it is meant');
  server.isAway = false;
  t.deepEqual(await store.wholeRows(['a3']), ['a3', 'a1', 'a2']);
  t.is(store.forAction(['a3', 'a1', 'a2']).unnamed, undefined);
});

test('a row that is read while the list is left has all of its emails', async (t) => {
  const { store } = shownList({ rows: ROWS, loaded: ROWS });
  const whole = store.wholeRows(['a3']);
  store.leave();
  t.deepEqual(await whole, ['a3', 'a1', 'a2']);
});
