// Tests what the cache of owners keeps, shares and drops, especially when a look-up and a change overlap.

import { AddressCache } from '../../../src/actors/directory/address-cache.js';
import type { AddressOwner } from '../../../src/store/directory.js';
import test from '../../support/test.js';

const ANN: AddressOwner = { accountId: 'ann', isUnclaimed: false };
const BOB: AddressOwner = { accountId: 'bob', isUnclaimed: false };

/** Returns a look-up that the test answers. */
function slow() {
  let answer = (_owner: AddressOwner | undefined) => {};
  const result = new Promise<AddressOwner | undefined>((resolve) => {
    answer = resolve;
  });
  return { find: () => result, answer: (owner: AddressOwner | undefined) => answer(owner) };
}

test('owners are remembered, their absence is not', async (t) => {
  const cache = new AddressCache();
  t.is(await cache.route('a', async () => undefined), undefined);
  t.is(await cache.route('a', async () => ANN), ANN);
  t.is(await cache.route('a', async () => t.fail() as never), ANN);
});

test('look-ups at a time are shared', async (t) => {
  const cache = new AddressCache();
  const { find, answer } = slow();
  const both = Promise.all([cache.route('a', find), cache.route('a', async () => BOB)]);
  answer(ANN);
  t.deepEqual(await both, [ANN, ANN]);
});

for (const [what, drop] of [
  ['its address', (cache: AddressCache) => cache.drop('a')],
  ['an account', (cache: AddressCache) => cache.dropAccount('ann')],
  ['everything', (cache: AddressCache) => cache.clear()],
] as const) {
  test(`a look-up that was running when ${what} was dropped is not remembered`, async (t) => {
    const cache = new AddressCache();
    const { find, answer } = slow();
    const first = cache.route('a', find);
    drop(cache);
    const second = cache.route('a', async () => BOB);
    answer(ANN);
    t.is(await first, ANN);
    t.is(await second, BOB);
    t.is(await cache.route('a', async () => t.fail() as never), BOB);
  });
}

test('a look-up that fails fails for all who wait and is made again', async (t) => {
  const cache = new AddressCache();
  await t.throwsAsync(
    cache.route('a', () => Promise.reject(new Error('away'))),
    { message: 'away' },
  );
  t.is(await cache.route('a', async () => ANN), ANN);
});

test('an account that is dropped takes its own addresses along and no others', async (t) => {
  const cache = new AddressCache();
  await cache.route('a', async () => ANN);
  await cache.route('b', async () => BOB);
  cache.dropAccount('ann');
  t.is(await cache.route('b', async () => t.fail() as never), BOB);
  t.is(await cache.route('a', async () => undefined), undefined);
});
