// Search indexing on a store of its own: the words of a page are stored in bounded batches, and a search waits for its own
// emails alone, however many come behind them.
import test from 'ava';
import pino from 'pino';
import { startSearchIndexing } from '../../../src/actors/mailbox/search-indexing.js';
import type { EmailWords, UnindexedEmail } from '../../../src/store/search.js';

const log = pino({ level: 'silent' });

const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

function emailOf(n: number): UnindexedEmail {
  return { id: idOf(n), blob: String(n), fromAddress: 'a@b.test', fromName: '', subject: `mail ${n}` };
}

/** Emails 1 to `count`, which may grow; `bodies`: by number. */
function storeOf(count: number, bodyOf: (n: number) => string) {
  const emails = { count };
  const puts: (readonly EmailWords[])[] = [];
  let upto = 0;
  return {
    emails,
    puts,
    store: {
      unindexed: async (_: string, limit: number) => {
        const found: UnindexedEmail[] = [];
        for (let n = upto + 1; n <= emails.count && found.length < limit; n++) found.push(emailOf(n));
        return found;
      },
      put: async (_: string, words: readonly EmailWords[]) => {
        puts.push(words);
        upto = Number(words.at(-1)!.id.slice(-12));
      },
    },
    texts: {
      searchable: async (_: string, blob: string) => ({ recipients: '', attachments: '', body: bodyOf(Number(blob)) }),
    },
  };
}

test('small emails are stored a page at a time, large ones few at a time, and each once and in order', async (t) => {
  const small = storeOf(150, (n) => `word${n}`);
  const large = storeOf(20, (n) => `word${n} `.repeat(n % 5 === 0 ? 50_000 : 9_000));
  for (const { puts, store, texts, emails } of [small, large]) {
    const indexing = startSearchIndexing({ store, texts, log });
    await indexing.reach('account', idOf(emails.count));
    await indexing.stop();
    t.deepEqual(
      puts.flat().map(({ id }) => id),
      Array.from({ length: emails.count }, (_, i) => idOf(i + 1)),
    );
    for (const { id, body, sender } of puts.flat()) {
      t.is(body[0], `word${Number(id.slice(-12))}`);
      t.deepEqual(sender, ['a', 'b', 'test']);
    }
  }
  t.deepEqual(
    small.puts.map(({ length }) => length),
    [100, 50],
  );
  const octetsHeld = large.puts.map((words) => words.slice(0, -1).reduce((sum, { body }) => sum + body.length, 0));
  t.true(Math.max(...octetsHeld) < 30_000, 'without its last email no batch would have been enough');
  t.true(large.puts.length > 5);
});

test('a search waits for its own emails, however many come and are searched for behind them', async (t) => {
  const { store, texts, emails } = storeOf(1, () => 'word');
  const indexing = startSearchIndexing({ store, texts, log, searchWaitMs: 60_000 });
  const searches: Promise<void>[] = [];
  let isEndless = true;
  const { put } = store;
  store.put = async (accountId, words) => {
    // Whenever emails become searchable, another one has come, and a search asks for it.
    if (isEndless) searches.push(indexing.reach('account', idOf(++emails.count)));
    await put(accountId, words);
  };
  await indexing.reach('account', idOf(1));
  for (let i = 0; i < 20; i++) await searches[i];
  t.true(searches.length > 20);
  isEndless = false;
  await Promise.all(searches);
  await indexing.stop();
});

test('a search rejects when the emails cannot be made searchable, and the next one tries again', async (t) => {
  const { store, texts } = storeOf(1, () => 'word');
  const indexing = startSearchIndexing({ store, texts, log, searchWaitMs: 60_000 });
  const { put } = store;
  store.put = () => Promise.reject(new Error('the store is away'));
  await t.throwsAsync(indexing.reach('account', idOf(1)), { message: 'the store is away' });
  store.put = put;
  await indexing.reach('account', idOf(1));
  await indexing.stop();
  t.pass();
});
