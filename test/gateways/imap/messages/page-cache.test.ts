import fc from 'fast-check';
import type { MessagePage } from '../../../../src/gateways/imap/messages/message-page.js';
import { PageCache } from '../../../../src/gateways/imap/messages/page-cache.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

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
  const page = cache.open(accountId, key, {});
  page.add([row(1, octets)]);
  return page;
}

const SOURCES = { header: true };

test('the page that was used longest ago goes first', async (t) => {
  const cache = new PageCache(100_000);
  for (const [n, account] of ['a', 'b', 'c', 'd'].entries()) {
    fill(cache, account, `${n}`, 20_000);
    await turn();
  }
  t.truthy(cache.get('a', '0', SOURCES)?.message(1, SOURCES));
  fill(cache, 'e', 'new', 20_000);
  await turn();
  t.deepEqual(
    ['a', 'b', 'c', 'd'].filter((account, n) => cache.get(account, `${n}`, {})?.message(1, SOURCES) !== undefined),
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
  t.truthy(cache.get('b', 'b', {})?.message(1, SOURCES));
  for (let i = 0; i < 200; i++) {
    fill(cache, 'a', `more ${i}`, 8_000);
    await turn();
  }
  t.truthy(cache.get('b', 'b', {})?.message(1, SOURCES));
  t.true(cache.octets <= 100_000);
});

test('header and index go before facts, and facts before the texts that were made', async (t) => {
  const cache = new PageCache(20_000);
  const page = fill(cache, 'a', '1', 6_000);
  const before = page.message(1, SOURCES)!;
  before.derived('name', () => 'made');
  const left: string[] = [];
  for (let i = 2; left.at(-1) !== ''; i++) {
    fill(cache, 'a', `${i}`, 6_000);
    await turn();
    const parts = cache.get('a', '1', { facts: false })?.parts ?? [];
    left.push(parts.map(({ name }) => name).join(' '));
  }
  t.deepEqual([...new Set(left)].slice(-4), ['facts sources name', 'facts name', 'name', '']);
  t.is(before.header.length, 6_000, 'whoever has the message still has its header');
});

test('texts that are in use are kept however much is read beside them', async (t) => {
  const cache = new PageCache(100_000);
  const needs = { facts: false, header: ['name'] };
  for (let i = 0; i < 20; i++) {
    fill(cache, 'a', `text ${i}`, 1_000)
      .message(1, SOURCES)!
      .derived('name', () => `made ${i}`);
  }
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 20; i++) {
      fill(cache, 'a', `${round} ${i}`, 9_000);
      await turn();
    }
    for (let i = 0; i < 20; i++) {
      const kept = cache.get('a', `text ${i}`, needs)?.message(1, needs);
      t.is(
        kept?.derived('name', () => 'made again'),
        `made ${i}`,
      );
    }
  }
});

const use = fc.record({
  account: fc.nat(3),
  page: fc.nat(9),
  uid: fc.nat(4),
  octets: fc.nat(30_000),
  derived: fc.nat(6_000),
  character: fc.constantFrom('x', 'é', '€'),
});

test('the bound holds after every turn, and what is counted is what is kept', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(use, { maxLength: 60 }), async (uses) => {
      const cache = new PageCache(100_000);
      for (const { account, page: number, uid, octets, derived, character } of uses) {
        const page = cache.open(`${account}`, `${number}`, {});
        page.add([row(uid, octets)]);
        page.message(uid, {})!.derived(`n${derived % 3}`, () => character.repeat(derived));
        await turn();
        t.true(cache.octets <= 100_000);
      }
      let counted = 0;
      for (let account = 0; account <= 3; account++) {
        let own = 0;
        for (let number = 0; number <= 9; number++) {
          for (const { octets } of cache.get(`${account}`, `${number}`, {})?.parts ?? []) own += octets;
        }
        t.is(own, cache.octetsOf(`${account}`));
        counted += own;
      }
      t.is(counted, cache.octets);
    }),
    { numRuns: runs(100) },
  );
});
