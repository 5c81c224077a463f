// Defines the contract of search: which emails the words find, and how far an account is searchable.
import { randomUUID } from 'node:crypto';
import { uuidText } from '../../../src/mail-format/ids.js';
import { type SearchField, searchTerms, wordsOf } from '../../../src/mail-format/words/search-text.js';
import { blobOf } from '../../../src/store/blobs.js';
import type { IndexedEmail, IndexedTexts, SearchPart } from '../../../src/store/search.js';
import { textsWith } from '../../support/field-words.js';
import type { Contract, Stores } from './stores.js';
import { openWriter } from './writer.js';

const words = (accountId: string, id: string, subject: string, sender = '', body = ''): IndexedEmail => ({
  accountId,
  id,
  texts: textsWith({ subject, sender, body }),
});

async function found(
  { search }: Pick<Stores, 'search'>,
  accountId: string,
  query: string,
  { part = 'text', after }: { readonly part?: SearchPart; readonly after?: string } = {},
) {
  const { ids } = await search.matches(accountId, searchTerms(query), part, after);
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

  async 'a prefix finds all words that begin so, in one segment or in many'(t, stores) {
    const { search } = stores;
    const writer = await openWriter(stores);
    const other = await openWriter(stores);
    const { accountId } = writer;
    const ids: string[] = [];
    for (const subject of ['invoice paid', 'invoices', 'involved, paid', 'invoices paid', 'other', 'Zoë 💌 paid']) {
      const { id } = await writer.add();
      ids.push(id);
      await search.put([words(accountId, id, subject)]);
    }
    await search.put([words(other.accountId, (await other.add()).id, 'invisible')]);
    const cases: [query: string, numbers: number[]][] = [
      ['inv', [0, 1, 2, 3]],
      ['inv pai', [0, 2, 3]],
      ['invoices', [1, 3]],
      ['"invoice"', [0]],
      ['"invoices paid"', [3]],
      ['zoe', [5]],
      ['💌', [5]],
      ['invoicest', []],
      ['in@pai', []],
      ['invoice@pai', [0]],
    ];
    for (const all of [false, true]) {
      for (const [query, numbers] of cases)
        t.deepEqual(await found(stores, accountId, query), numbers.map((i) => ids[i]!).sort(), query);
      if (!all) await search.merge(accountId, { live: 0, signal: new AbortController().signal });
    }
  },

  async 'sixteen segments become one, and nothing else changes'(t, stores) {
    const { search } = stores;
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const { signal } = new AbortController();
    const ids: string[] = [];
    for (let n = 0; n < 16; n++) {
      t.is((await search.merge(accountId, { signal })).segments, 0, 'none are due');
      const { id } = await writer.add();
      ids.push(id);
      await search.put([words(accountId, id, `number ${n}`, 'Zoë', 'the body')]);
    }
    const segments = async () => (await search.matches(accountId, searchTerms('number'), 'text')).segments;
    t.is(await segments(), 16);
    const outcome = await search.merge(accountId, { signal });
    t.like(outcome, { segments: 16, emails: 16 });
    t.true(outcome.octets > 0);
    t.is(await segments(), 1);
    t.deepEqual(await found(stores, accountId, 'zoe number'), ids.toSorted());
    t.deepEqual(await found(stores, accountId, '"number 7"'), [ids[7]]);
    t.deepEqual(await found(stores, accountId, 'number', { after: ids[12]! }), ids.slice(13).sort());
    t.is((await search.unindexed([accountId], 10)).length, 0);
    const others = await Promise.all([1, 2].map(() => search.merge(accountId, { signal })));
    t.deepEqual(others, Array(2).fill({ segments: 0, emails: 0, octets: 0, mayBeMore: false }));
  },

  async 'the texts of single fields are those of the email and of its recipients'(t, stores) {
    const writer = await openWriter(stores);
    const message = blobOf(Buffer.from('To: Zoë <zoe@x.test>, bob@x.test\r\nCc: list: c@x.test;\r\n\r\nx'));
    await stores.blobs.put(message);
    const { id } = await writer.add({ blob: message.hash, fromName: 'Ann', fromAddress: 'ann@x.test', subject: 'Zoo' });
    const words = async (field: SearchField, of = writer.accountId) => {
      const texts = await stores.search.fieldTexts(of, field, [id, randomUUID()]);
      return [...texts].map(([emailId, text]) => [emailId === id, wordsOf(text).join(' ')]);
    };
    t.deepEqual(await words('from'), [[true, 'ann ann x test']]);
    t.deepEqual(await words('subject'), [[true, 'zoo']]);
    t.deepEqual(await words('to'), [[true, 'zoe zoe x test bob x test']]);
    t.deepEqual(await words('cc'), [[true, 'list c x test']]);
    t.deepEqual(await words('from', await stores.account()), []);
  },

  async 'words of the body and of names of attachments are found alone'(t, stores) {
    const writer = await openWriter(stores);
    const { accountId } = writer;
    const [a, b] = [(await writer.add()).id, (await writer.add()).id];
    const apple = words(accountId, a, 'apple pie', 'ann', 'the cherry tart');
    await stores.search.put([
      { accountId, id: a, texts: { ...apple.texts, attachments: 'recipe of the pie.pdf' } },
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

  async 'emails of one message are found in each of their accounts, beside what else these have'(t, stores) {
    const message = textsWith({ subject: 'to all of you', body: 'Zoë 💌' });
    const others = [textsWith({ body: 'other' }), textsWith({ body: 'zoe other' })];
    const lists = [
      [message],
      [message],
      [message, others[0]!],
      [others[0]!, message],
      [message, message],
      [others[1]!],
    ];
    const emails: IndexedEmail[] = [];
    for (const list of lists) {
      const writer = await openWriter(stores);
      for (const texts of list) emails.push({ accountId: writer.accountId, id: (await writer.add()).id, texts });
    }
    t.deepEqual(await stores.search.put(emails), []);
    for (const accountId of new Set(emails.map((email) => email.accountId))) {
      const own = emails.filter((email) => email.accountId === accountId);
      const having = (...some: readonly IndexedTexts[]) =>
        own.filter(({ texts }) => some.includes(texts)).map(({ id }) => id);
      t.deepEqual(await found(stores, accountId, '"zoe 💌"'), having(message));
      t.deepEqual(await found(stores, accountId, 'zoe'), having(message, others[1]!));
      t.deepEqual(await found(stores, accountId, 'other'), having(...others));
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
    const merge = () => search.merge(accountId, { live: 0, signal: new AbortController().signal });
    await merge();
    t.deepEqual(await found(stores, accountId, 'x'), [ids[1]]);
    await search.put([words(accountId, ids[0]!, 'x')]);
    await merge();
    t.deepEqual(await found(stores, accountId, 'x'), [ids[1]], 'it is gone');
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
