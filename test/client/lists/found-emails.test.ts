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

test('a long list is read in parts, which says how far it is, and can be ended', async (t) => {
  const part = (emailIds: readonly string[], next?: string) => ({ totalCount: 5, groups: [{ emailIds, ...of }], next });
  const parts = [part(['e', 'd'], '2-d'), part(['c', 'b'], '1-b'), part(['a'])];
  const { queries, rest } = server(...parts);
  const told: number[][] = [];
  const found = await foundEmails(rest, { q: 'x' }, undefined, { progress: (...of) => told.push(of) });
  t.deepEqual(queries, [{ q: 'x' }, { q: 'x', before: '2-d' }, { q: 'x', before: '1-b' }]);
  t.deepEqual([found.total, found.ids], [5, ['e', 'd', 'c', 'b', 'a']]);
  t.deepEqual(told, [
    [2, 5],
    [4, 5],
  ]);

  const stop = new AbortController();
  const stopped = server(...parts);
  const options = { progress: () => stop.abort(), signal: stop.signal };
  await t.throwsAsync(foundEmails(stopped.rest, { q: 'x' }, undefined, options), { any: true, name: 'AbortError' });
  t.is(stopped.queries.length, 1);

  // A server of 0.2.0 gives the newest ones again.
  const old = server(parts[0]!, parts[0]!);
  t.deepEqual((await foundEmails(old.rest, { q: 'x' })).ids, ['e', 'd']);
});
