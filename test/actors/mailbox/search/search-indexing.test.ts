// Tests search indexing on its own store: a search waits only for its own emails, however many arrive after them, and in
// the background many accounts share a round.

import pino from 'pino';
import type { StoredMessage } from '../../../../src/actors/mailbox/search/email-texts.js';
import { startSearchIndexing } from '../../../../src/actors/mailbox/search/search-indexing.js';
import { makeSearchable } from '../../../../src/actors/mailbox/search/searchable-emails.js';
import { indexMessage } from '../../../../src/mail-format/mime-index/indexer.js';
import { openEmailTexts } from '../../../../src/node/engine/email-texts.js';
import { StoreFault } from '../../../../src/store/errors.js';
import type { IndexedEmail, UnindexedEmail } from '../../../../src/store/search.js';
import { FakeBlobs } from '../../../gateways/http/fakes.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';

const log = pino({ level: 'silent' });

const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

const numberOf = (id: string): number => Number(id.slice(-12));

function emailOf(accountId: string, n: number): UnindexedEmail {
  return {
    accountId,
    id: idOf(n),
    blob: String(n),
    size: 1_000,
    fromAddress: 'a@b.test',
    fromName: '',
    subject: `mail ${n}`,
  };
}

/** Fakes accounts with emails 1 to `count`, which may grow; `bodyOf` gives their bodies. */
function storeOf(accounts: Readonly<Record<string, { count: number }>>, bodyOf: (n: number) => string) {
  const looks: (readonly string[])[] = [];
  const puts: (readonly IndexedEmail[])[] = [];
  const upto = new Map<string, number>();
  return {
    looks,
    puts,
    store: {
      unindexed: async (accountIds: readonly string[], limit: number) => {
        looks.push(accountIds);
        return accountIds.toSorted().flatMap((accountId) => {
          const found: UnindexedEmail[] = [];
          const first = (upto.get(accountId) ?? 0) + 1;
          for (let n = first; n <= accounts[accountId]!.count && found.length < limit; n++)
            found.push(emailOf(accountId, n));
          return found;
        });
      },
      put: async (words: readonly IndexedEmail[]): Promise<readonly string[]> => {
        puts.push(words);
        for (const { accountId, id } of words) upto.set(accountId, numberOf(id));
        return [];
      },
    },
    texts: {
      searchable: async (messages: readonly StoredMessage[]) =>
        messages.map(({ blob }) => ({ recipients: '', attachments: '', body: bodyOf(Number(blob)) })),
    },
  };
}

/** Resolves once the background has stored the words of this many emails. */
async function stored(puts: readonly (readonly IndexedEmail[])[], emails: number): Promise<void> {
  await until(() => puts.flat().length >= emails);
}

test('emails, small and large, are stored once each and in order', async (t) => {
  const small = storeOf({ account: { count: 550 } }, (n) => `word${n}`);
  const large = storeOf({ account: { count: 20 } }, (n) => `word${n} `.repeat(n % 5 === 0 ? 50_000 : 9_000));
  for (const [{ puts, store, texts }, count] of [[small, 550] as const, [large, 20] as const]) {
    const indexing = startSearchIndexing({ store, texts, log, searchWaitMs: 60_000 });
    await indexing.reach('account', idOf(count));
    await indexing.stop();
    t.deepEqual(
      puts.flat().map(({ id }) => id),
      Array.from({ length: count }, (_, i) => idOf(i + 1)),
    );
    for (const { id, texts } of puts.flat()) {
      t.true(String(texts.body).startsWith(`word${numberOf(id)}`));
      t.is(texts.sender, ' a@b.test');
    }
  }
});

test('a search waits for its own emails, however many come and are searched for behind them', async (t) => {
  const account = { count: 1 };
  const { store, texts } = storeOf({ account }, () => 'word');
  const indexing = startSearchIndexing({ store, texts, log, searchWaitMs: 60_000 });
  const searches: Promise<void>[] = [];
  let isEndless = true;
  const { put } = store;
  store.put = async (words) => {
    // Whenever emails become searchable, another one arrives, and a search asks for it.
    if (isEndless) searches.push(indexing.reach('account', idOf(++account.count)));
    return put(words);
  };
  await indexing.reach('account', idOf(1));
  for (let i = 0; i < 20; i++) await searches[i];
  t.true(searches.length > 20);
  isEndless = false;
  await Promise.all(searches);
  await indexing.stop();
});

test('a search rejects when the emails cannot be made searchable, and the next one tries again', async (t) => {
  const { store, texts } = storeOf({ account: { count: 1 } }, () => 'word');
  const indexing = startSearchIndexing({ store, texts, log, searchWaitMs: 60_000 });
  const { put } = store;
  store.put = () => Promise.reject(new Error('the store is away'));
  await t.throwsAsync(indexing.reach('account', idOf(1)), { message: 'the store is away' });
  store.put = put;
  await indexing.reach('account', idOf(1));
  await indexing.stop();
  t.pass();
});

test('in the background accounts share a bounded round, and one with many emails does not hold back the others', async (t) => {
  const names = Array.from({ length: 220 }, (_, i) => `account${String(i).padStart(3, '0')}`);
  const accounts = Object.fromEntries(names.map((name) => [name, { count: 1 }]));
  const [first] = names as [string];
  accounts[first] = { count: 60 };
  const { looks, puts, store, texts } = storeOf(accounts, (n) => `word${n}`);
  const indexing = startSearchIndexing({ store, texts, log, quietMs: 1 });
  for (const name of names) indexing.note(name, idOf(accounts[name]!.count));
  await stored(puts, names.length - 1 + 60);
  await indexing.stop();
  t.true(looks.every(({ length }) => length <= 100));
  const order = puts.flat();
  const lastOfOthers = order.findLastIndex(({ accountId, id }) => accountId !== first && numberOf(id) === 1);
  const ofFirst = order.slice(0, lastOfOthers).filter(({ accountId }) => accountId === first).length;
  t.true(ofFirst < 60, `${ofFirst} emails of the first account came before the last account had its turn`);
  for (const name of names) {
    t.deepEqual(
      order.flatMap(({ accountId, id }) => (accountId === name ? [numberOf(id)] : [])),
      Array.from({ length: accounts[name]!.count }, (_, i) => i + 1),
    );
  }
});

test('an account that cannot be indexed holds back no account of its round', async (t) => {
  const names = ['a', 'b', 'c', 'd'];
  const { puts, store, texts } = storeOf(Object.fromEntries(names.map((name) => [name, { count: 2 }])), () => 'word');
  const { put } = store;
  store.put = async (words) => {
    if (words.some(({ accountId }) => accountId === 'b'))
      throw new StoreFault('store-failed', 'these words cannot be stored', { temporary: false });
    return put(words);
  };
  const indexing = startSearchIndexing({ store, texts, log, quietMs: 1 });
  for (const name of names) indexing.note(name, idOf(2));
  await stored(puts, 6);
  await indexing.stop();
  t.deepEqual(
    puts.flat().map(({ accountId, id }) => `${accountId}${numberOf(id)}`),
    ['a1', 'a2', 'c1', 'c2', 'd1', 'd2'],
  );
});

test('while the store is away accounts go on waiting, those that were tried too', async (t) => {
  const names = Array.from({ length: 20 }, (_, i) => `account${i}`);
  const { puts, store, texts } = storeOf(Object.fromEntries(names.map((name) => [name, { count: 1 }])), () => 'word');
  const { unindexed } = store;
  let looks = 0;
  store.unindexed = async (...look) => {
    // The first round fails, and the first account of it when it is looked at alone.
    if (++looks <= 2) throw new StoreFault('store-unavailable', 'away', { temporary: true });
    return unindexed(...look);
  };
  const indexing = startSearchIndexing({ store, texts, log, quietMs: 1 });
  for (const name of names) indexing.note(name, idOf(1));
  await stored(puts, names.length);
  await indexing.stop();
  t.deepEqual(
    puts
      .flat()
      .map(({ accountId }) => accountId)
      .toSorted(),
    names.toSorted(),
  );
});

test('of an account that is locked nothing is stored until it can be from its first email on, and no other waits', async (t) => {
  const names = ['a', 'b', 'c'];
  const bodies = (n: number) => `word${n} `.repeat(9_000);
  const { puts, store, texts } = storeOf(Object.fromEntries(names.map((name) => [name, { count: 6 }])), bodies);
  const { put } = store;
  let refusals = 0;
  store.put = async (words) => {
    // The account is locked for the first two batches that contain words of it.
    const isLocked = words.some(({ accountId }) => accountId === 'b') && refusals++ < 2;
    await put(words.filter(({ accountId }) => !isLocked || accountId !== 'b'));
    return isLocked ? ['b'] : [];
  };
  const indexing = startSearchIndexing({ store, texts, log, quietMs: 1 });
  for (const name of names) indexing.note(name, idOf(6));
  await stored(puts, 18);
  await indexing.stop();
  t.is(refusals > 2, true);
  const order = puts.flat();
  for (const name of names) {
    t.deepEqual(
      order.flatMap(({ accountId, id }) => (accountId === name ? [numberOf(id)] : [])),
      [1, 2, 3, 4, 5, 6],
    );
  }
  t.true(
    order.findIndex(({ accountId }) => accountId === 'b') > order.findLastIndex(({ accountId }) => accountId === 'c'),
  );
});

test('a search waits while its account is locked', async (t) => {
  const { puts, store, texts } = storeOf({ account: { count: 3 } }, () => 'word');
  const { put } = store;
  let refusals = 0;
  store.put = async (words) => (refusals++ === 0 ? ['account'] : put(words));
  const indexing = startSearchIndexing({ store, texts, log, searchWaitMs: 60_000 });
  await indexing.reach('account', idOf(3));
  await indexing.stop();
  t.deepEqual(
    puts.flat().map(({ id }) => numberOf(id)),
    [1, 2, 3],
  );
});

test('emails of one message share its texts, unless their columns say something else', async (t) => {
  const blobs = new FakeBlobs();
  const texts = openEmailTexts(blobs);
  t.teardown(() => texts.close());
  const raw = Buffer.from('From: Zoë <zoe@b.test>\r\nTo: all@b.test\r\nSubject: 💌\r\n\r\nto all of you\r\n');
  const blob = blobs.add(raw, indexMessage(raw));
  const other = Buffer.from('From: a@b.test\r\n\r\nother\r\n');
  const emails = ['a', 'b', 'c', 'd'].flatMap((accountId) => [
    { ...emailOf(accountId, 1), blob, subject: accountId === 'c' ? 'another subject' : '💌' },
    ...(accountId === 'b' ? [{ ...emailOf(accountId, 2), blob: blobs.add(other, indexMessage(other)) }] : []),
  ]);
  const put: IndexedEmail[] = [];
  const store = {
    put: async (some: readonly IndexedEmail[]) => {
      put.push(...some);
      return [];
    },
  };
  t.is((await makeSearchable({ store, texts }, emails, new AbortController().signal)).size, 0);
  t.deepEqual(
    put.map(({ accountId, id }) => [accountId, id]),
    emails.map(({ accountId, id }) => [accountId, id]),
  );
  const [a, b, , c, d] = put.map((email) => email.texts);
  t.deepEqual(a, {
    subject: '💌',
    sender: ' a@b.test',
    recipients: ' all@b.test',
    attachments: '',
    body: Buffer.from('to all of you\r\n'),
  });
  t.true(a === b && a === d);
  t.deepEqual(c, { ...a, subject: 'another subject' });
});

test('an account whose search fails for now is made searchable in the background', async (t) => {
  const { puts, store, texts } = storeOf({ account: { count: 1 } }, () => 'word');
  const { unindexed } = store;
  let isAway = true;
  store.unindexed = async (...look) => {
    if (isAway) throw new StoreFault('store-unavailable', 'away', { temporary: true });
    return unindexed(...look);
  };
  const indexing = startSearchIndexing({ store, texts, log, quietMs: 1 });
  await t.throwsAsync(indexing.reach('account', idOf(1)));
  isAway = false;
  await stored(puts, 1);
  await indexing.stop();
});
