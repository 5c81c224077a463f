import test from 'ava';
import fc from 'fast-check';
import type { MessagePage } from '../../../../src/gateways/imap/messages/message-page.js';
import { PageCache } from '../../../../src/gateways/imap/messages/page-cache.js';

const turn = () => new Promise(setImmediate);

function row(uid: number, octets: number) {
  return {
    uid,
    emailId: `${uid}`,
    threadId: `${uid}`,
    blob: 'hash',
    size: 1,
    receivedAt: 0,
    savedAt: 0,
    preview: '',
    header: Buffer.alloc(octets, 'h'),
  };
}

function fill(cache: PageCache, accountId: string, key: string, octets: number): MessagePage {
  const page = cache.open(accountId, key);
  page.add([row(1, octets)]);
  return page;
}

test('the page that was used longest ago goes first', async (t) => {
  const cache = new PageCache(100_000);
  for (const [n, account] of ['a', 'b', 'c', 'd'].entries()) {
    fill(cache, account, `${n}`, 20_000);
    await turn();
  }
  t.truthy(cache.get('a', '0'));
  fill(cache, 'e', 'new', 20_000);
  await turn();
  t.deepEqual(
    ['a', 'b', 'c', 'd'].filter((account, n) => cache.get(account, `${n}`) !== undefined),
    ['a', 'c', 'd'],
  );
});

test('an account alone has all octets, and gives back what is beyond half of them to others only', async (t) => {
  const cache = new PageCache(100_000);
  for (let i = 0; i < 20; i++) fill(cache, 'a', `${i}`, 8_000);
  await turn();
  t.true(cache.octetsOf('a') > 80_000 && cache.octets <= 100_000);
  fill(cache, 'b', 'b', 20_000);
  await turn();
  t.truthy(cache.get('b', 'b'));
  for (let i = 0; i < 200; i++) {
    fill(cache, 'a', `more ${i}`, 8_000);
    await turn();
  }
  t.truthy(cache.get('b', 'b'));
  t.true(cache.octets <= 100_000);
});

test('header and index go before what was made from them', async (t) => {
  const cache = new PageCache(150_000);
  const page = fill(cache, 'a', '1', 60_000);
  page.at(1)!.derived('name', () => 'made');
  for (const account of ['b', 'c']) fill(cache, account, '2', 60_000);
  await turn();
  const kept = cache.get('a', '1')!.at(1)!;
  t.is(
    kept.derived('name', () => 'made again'),
    'made',
  );
  t.false(kept.hasHeader);
  t.true(kept.has({ header: ['name'] }));
  t.false(kept.has({ header: true }));
  t.is(page.at(1)!.header.length, 60_000, 'whoever has the page still has its header');
});

const use = fc.record({
  account: fc.nat(3),
  page: fc.nat(9),
  uid: fc.nat(4),
  octets: fc.nat(30_000),
  derived: fc.nat(4_000),
});

test('the bound holds after every turn, and what is counted is what is kept', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(use, { maxLength: 60 }), async (uses) => {
      const cache = new PageCache(100_000);
      for (const { account, page: number, uid, octets, derived } of uses) {
        const page = cache.open(`${account}`, `${number}`);
        page.add([row(uid, octets)]);
        page.at(uid)!.derived(`n${derived % 3}`, () => 'x'.repeat(derived));
        await turn();
        t.true(cache.octets <= 100_000);
      }
      let counted = 0;
      for (let account = 0; account <= 3; account++) {
        let own = 0;
        for (let number = 0; number <= 9; number++) own += cache.get(`${account}`, `${number}`)?.octets ?? 0;
        t.is(own, cache.octetsOf(`${account}`));
        counted += own;
      }
      t.is(counted, cache.octets);
    }),
    { numRuns: 100 },
  );
});
