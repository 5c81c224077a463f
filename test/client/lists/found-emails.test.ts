// Tests how the emails of a whole list are read: with what is known of each, and by rows where the list has a row per thread.
import { foundEmails } from '../../../src/client/lists/found-emails.js';
import test from '../../support/test.js';

const of = { isRead: false, isFlagged: false, folderIds: ['inbox-id'] };

function server(...replies: readonly object[]) {
  const queries: unknown[] = [];
  const request = (_: string, __: string, { query }: { query: unknown }) => {
    queries.push(query);
    return Promise.resolve(replies[queries.length - 1]);
  };
  return { queries, rest: { request } as never };
}

test('emails of a list by thread are known by the rows of the server', async (t) => {
  const groups = [
    { emailIds: ['b1', 'a1'], ...of },
    { emailIds: ['a2'], ...of, isRead: true },
  ];
  const { queries, rest } = server({ totalCount: 4, groups, threads: [[2, 1]] });
  const found = await foundEmails(rest, { sort: 'date', groupByThread: true, isFlagged: false });
  t.deepEqual(queries, [{ folder: 'inbox', groupByThread: true, isFlagged: false }]);
  t.deepEqual([found.total, found.ids], [4, ['b1', 'a1', 'a2']]);
  t.deepEqual([found.thread('a1'), found.thread('a2'), found.thread('b1')], [['a2', 'a1'], ['a2', 'a1'], undefined]);
  t.deepEqual(found.find('a2'), { ...of, isRead: true });
});

test('rows are asked for by their emails, 100 at once', async (t) => {
  const reply = (emailIds: readonly string[]) => ({ totalCount: 2, groups: [{ emailIds, ...of }], threads: [[0, 1]] });
  const { queries, rest } = server(reply(['a2', 'a1']), reply(['b2', 'b1']));
  const rows = Array.from({ length: 150 }, (_, i) => `e${i}`);
  const found = await foundEmails(rest, { folder: 'l1', sort: 'date', groupByThread: true, isRead: false }, rows);
  const parts = [rows.slice(0, 100), rows.slice(100)];
  t.deepEqual(
    queries,
    parts.map((part) => ({ folder: 'l1', groupByThread: true, rowsOf: part.join(',') })),
  );
  t.deepEqual([found.total, found.ids], [4, ['a2', 'a1', 'b2', 'b1']]);
  t.deepEqual(found.thread('b1'), ['b2', 'b1']);
});
