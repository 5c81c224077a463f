// Tests the semaphore of searches in the database.

import { withSearchSemaphore } from '../../../../src/actors/mailbox/search/search-semaphore.js';
import type { SearchStore } from '../../../../src/store/search.js';
import test from '../../../support/test.js';
import { turn } from '../../../support/turns.js';

test('so many searches are under way at a time; accounts go in turn, and one that fails gives its permit back', async (t) => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  let underWay = 0;
  const store = {
    matches: async (accountId: string) => {
      begun.push(accountId);
      t.true(++underWay <= 2);
      await new Promise<void>((resolve) => ends.push(resolve));
      underWay--;
      if (accountId === 'fails') throw new Error('no answer');
      return { ids: new Uint8Array(16), segments: 1 };
    },
  };
  const { matches } = withSearchSemaphore(store as unknown as SearchStore, 2);
  const ask = (accountId: string) => matches(accountId, [], 'text');
  const failing = t.throwsAsync(ask('fails'), { message: 'no answer' });
  const asked = [...'aaaab'].map((accountId) => ask(accountId));
  for (let i = 0; i < 6; i++) {
    while (ends[i] === undefined) await turn();
    ends[i]!();
  }
  await failing;
  t.is((await Promise.all(asked)).length, 5);
  t.deepEqual(begun.slice(0, 2), ['fails', 'a']);
  t.true(begun.indexOf('b') <= 3, 'the other account waits for one search, not for all of them');
});

test('an account whose searches do not end leaves a permit to the others', async (t) => {
  const ends: (() => void)[] = [];
  const store = {
    matches: async (accountId: string) => {
      if (accountId === 'endless') await new Promise<void>((resolve) => ends.push(resolve));
      return { ids: new Uint8Array(16), segments: 1 };
    },
  };
  const { matches } = withSearchSemaphore(store as unknown as SearchStore, 3);
  const endless = [1, 2, 3].map(() => matches('endless', [], 'text'));
  t.is((await matches('Zoë 💌', [], 'text')).segments, 1);
  t.is(ends.length, 2);
  for (let i = 0; i < 3; i++) {
    while (ends[i] === undefined) await turn();
    ends[i]!();
  }
  t.is((await Promise.all(endless)).length, 3);
});
