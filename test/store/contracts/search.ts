// The contract of search: which emails the words find, and how far an account is searchable.
import { uuidText } from '../../../src/mail/ids.js';
import { searchTerms, wordsOf } from '../../../src/mail/search-text.js';
import type { EmailWords, SearchPart } from '../../../src/store/search.js';
import type { Contract, Stores } from './stores.js';
import { openWriter } from './writer.js';

const words = (accountId: string, id: string, subject: string, sender = '', body = ''): EmailWords => ({
  accountId,
  id,
  subject: wordsOf(subject),
  sender: wordsOf(sender),
  recipients: [],
  attachments: [],
  body: wordsOf(body),
});

async function found(
  { search }: Pick<Stores, 'search'>,
  accountId: string,
  query: string,
  { part = 'text', after }: { readonly part?: SearchPart; readonly after?: string } = {},
) {
  const ids = await search.matches(accountId, searchTerms(query), part, after);
  return Array.from({ length: ids.length / 16 }, (_, i) => uuidText(ids, i * 16)).sort();
}

export const SEARCH: Contract = {
  async 'emails are found by the start of a word and by phrases, in any field'(t, stores) {
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    const { accountId } = writer;
    const [a, b] = [(await writer.add()).id, (await writer.add()).id];
    await stores.search.put([
      words(accountId, a, 'Quarterly report', 'Ann ann@remote.test', 'Numbers of the last year'),
      words(accountId, b, 'Holidays', 'Bob', 'the quarter of an hour report'),
    ]);
    const foreign = await other.add();
    await stores.search.put([words(other.accountId, foreign.id, 'report')]);
    const cases: [query: string, ids: string[]][] = [
      ['quarter', [a, b]],
      ['"quarter"', [b]],
      ['quarter report', [a, b]],
      ['"quarterly report"', [a]],
      ['"report ann"', []],
      ['ann@remote', [a]],
      ['hour bob', [b]],
      ['nothing', []],
    ];
    for (const [query, ids] of cases) t.deepEqual(await found(stores, accountId, query), ids.toSorted(), query);
    t.deepEqual(await found(stores, accountId, 'report', { after: a }), [b]);
  },

  async 'words that begin so are found until every email that has one has one of them, and stand for their beginning'(
    t,
    stores,
  ) {
    const { search } = stores;
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    const { accountId } = writer;
    const subjects = ['invoice paid', 'invoices', 'involved, paid', 'invoices paid', 'other', 'inventory paid'];
    const ids: string[] = [];
    for (const subject of subjects) {
      const { id } = await writer.add();
      ids.push(id);
      await search.put([words(accountId, id, subject)]);
    }
    await search.put([words(other.accountId, (await other.add()).id, 'invisible')]);
    const known = ['inv'];
    for (;;) {
      const more = await search.completions(accountId, 'inv', known);
      if (more.length === 0) break;
      known.push(...more);
    }
    t.deepEqual(known.toSorted(), ['inv', 'inventory', 'invoice', 'invoices', 'involved']);
    t.deepEqual(await search.completions(accountId, 'nothing', ['nothing']), []);
    const asked = async (query: string, completed: readonly string[], upto: string) => {
      const completions = { words: new Map([['inv', completed]]), upto };
      const packed = await search.matches(accountId, searchTerms(query), 'text', undefined, completions);
      return Array.from({ length: packed.length / 16 }, (_, i) => uuidText(packed, i * 16)).sort();
    };
    const paid = [0, 2, 3, 5].map((i) => ids[i]!).sort();
    for (const upto of ids) t.deepEqual(await asked('inv pai', known, upto), paid);
    // What is no completion of an earlier email is one of a later email.
    t.deepEqual(await asked('pai inv', ['invoice', 'invoices', 'involved'], ids[4]!), paid);
    t.deepEqual(await asked('inv "paid"', ['invoice'], ids[4]!), [ids[0]!, ids[5]!].sort());
  },

  async 'words of the body and of names of attachments are found alone'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const [a, b] = [(await writer.add()).id, (await writer.add()).id];
    await stores.search.put([
      { ...words(accountId, a, 'apple pie', 'ann', 'the cherry tart'), attachments: wordsOf('recipe of the pie.pdf') },
      words(accountId, b, 'cherry tart', 'bob', 'apple and pie'),
    ]);
    const cases: [query: string, text: string[], body: string[]][] = [
      ['apple', [a, b], [b]],
      ['che', [a, b], [a]],
      ['"cherry tart"', [a, b], [a]],
      ['"apple pie"', [a], []],
      ['apple pie', [a, b], [b]],
      ['recipe', [a], [a]],
      ['"pie pdf"', [a], [a]],
      ['ann', [a], []],
    ];
    for (const [query, text, body] of cases) {
      t.deepEqual(await found(stores, accountId, query), text.toSorted(), query);
      for (const after of [undefined, '00000000-0000-0000-0000-000000000000'])
        t.deepEqual(await found(stores, accountId, query, { part: 'body', ...(after && { after }) }), body, query);
    }
  },

  async 'an account is searchable up to an id; what is removed is not found'(t, stores) {
    const { search } = stores;
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const emails = [await writer.add({ subject: 'one', fromName: 'A' }), await writer.add(), await writer.add()];
    const ids = emails.map(({ id }) => id);
    const waiting = async (limit = 10) => (await search.unindexed([accountId], limit)).map(({ id }) => id);
    t.deepEqual(await waiting(2), ids.slice(0, 2));
    const { id, blob, size, fromAddress, subject } = emails[0]!;
    t.deepEqual((await search.unindexed([accountId], 1))[0], {
      accountId,
      id,
      blob,
      size,
      fromAddress,
      fromName: 'A',
      subject,
    });
    await search.put([words(accountId, ids[0]!, 'x'), words(accountId, ids[1]!, 'x')]);
    t.deepEqual(await waiting(), [ids[2]]);
    await search.put([words(accountId, ids[0]!, 'x')]);
    t.deepEqual(await waiting(), [ids[2]], 'it does not go back');
    await writer.commit([{ type: 'EmailRemoved', payload: { emailId: ids[0]!, placements: [] } }]);
    t.deepEqual(await found(stores, accountId, 'x'), [ids[1]]);
    await search.put([words(accountId, ids[0]!, 'x')]);
    t.deepEqual(await found(stores, accountId, 'x'), [ids[1]], 'it is gone');
    t.is((await search.outdated(accountId, 10)).length, 0);
    t.deepEqual(await search.outdatedAccounts('00000000-0000-0000-0000-000000000000', 10), []);
  },
  async 'emails of several accounts are looked for and become searchable together, each account up to its own last id'(
    t,
    stores,
  ) {
    const { search } = stores;
    const writers = [await openWriter(stores), await openWriter(stores), await openWriter(stores)];
    const accountIds = writers.map(({ accountId }) => accountId);
    const [a, b, c] = accountIds as [string, string, string];
    const ids = new Map<string, string[]>();
    for (const [i, writer] of writers.entries()) {
      const added: string[] = [];
      for (let n = 0; n <= i; n++) added.push((await writer.add()).id);
      ids.set(writer.accountId, added);
    }
    const waiting = async (limit: number, of: readonly string[] = accountIds) =>
      (await search.unindexed(of, limit)).map(({ accountId, id }) => [accountId, id]);
    const expected = (limit: number) =>
      accountIds.toSorted().flatMap((accountId) =>
        ids
          .get(accountId)!
          .slice(0, limit)
          .map((id) => [accountId, id]),
      );
    t.deepEqual(await waiting(2), expected(2));
    t.deepEqual(await waiting(10), expected(10));
    t.deepEqual(await waiting(10, []), []);
    const page = await search.unindexed([a, c], 2);
    await search.put(page.map(({ accountId, id }) => words(accountId, id, 'together')));
    t.deepEqual(await waiting(10), [
      ...[
        [b, ids.get(b)![0]],
        [b, ids.get(b)![1]],
        [c, ids.get(c)![2]],
      ].toSorted(),
    ]);
    t.deepEqual(await found(stores, a, 'together'), ids.get(a)!);
    t.deepEqual(await found(stores, b, 'together'), []);
    t.deepEqual(await found(stores, c, 'together'), ids.get(c)!.slice(0, 2).toSorted());
    await search.put([]);
  },
};
