// Tests merges of the search index on their own store: accounts are merged in turn, two at a time, and
// a failure holds back no other account.

import pino from 'pino';
import { type MergeMeter, startSearchMerging } from '../../../../src/actors/mailbox/search/search-merging.js';
import { StoreFault } from '../../../../src/store/errors.js';
import type { IndexedEmail, MergeOptions, MergeOutcome, SearchStore } from '../../../../src/store/search.js';
import { textsWith } from '../../../support/field-words.js';
import test from '../../../support/test.js';
import { turn } from '../../../support/turns.js';

const log = pino({ level: 'silent' });

const idOf = (n: number): string => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

const emailOf = (accountId: string, n: number): IndexedEmail => ({
  accountId,
  id: idOf(n),
  texts: textsWith({ body: 'zoë' }),
});

const MERGED: MergeOutcome = { segments: 16, emails: 16, octets: 1_600, mayBeMore: false };
const NOTHING: MergeOutcome = { segments: 0, emails: 0, octets: 0, mayBeMore: false };

type Merge = (accountId: string, options: MergeOptions) => Promise<MergeOutcome>;

/** `merge` replaces a merge of one set. */
function setUp({ merge = async () => MERGED, refused = [] }: { merge?: Merge; refused?: readonly string[] } = {}) {
  const merges: { readonly accountId: string; readonly live: number | undefined }[] = [];
  const watchers: (() => void)[] = [];
  const met = { merged: [] as number[], failed: 0 };
  const found = { ids: new Uint8Array(16), segments: 0 };
  let underWay = 0;
  const underWayOf = new Set<string>();
  const store = {
    put: async () => refused,
    matches: async () => found,
    async merge(accountId: string, options: MergeOptions) {
      merges.push({ accountId, live: options.live });
      if (++underWay > 2) throw new Error('three merges at a time');
      if (underWayOf.has(accountId)) throw new Error('two merges of an account');
      underWayOf.add(accountId);
      try {
        return await merge(accountId, options);
      } finally {
        underWay--;
        underWayOf.delete(accountId);
        for (const watcher of watchers.splice(0)) watcher();
      }
    },
  };
  const meter: MergeMeter = {
    merged: ({ octets }) => met.merged.push(octets),
    failed: () => {
      met.failed++;
    },
  };
  const merging = startSearchMerging({ store: store as unknown as SearchStore, log, meter, retryMs: 1 });
  /** Resolves when this many merges have ended. */
  const ended = async (count: number): Promise<void> => {
    while (merges.length < count || underWay > 0) await new Promise<void>((resolve) => watchers.push(resolve));
  };
  return { merging, merges, met, found, ended, accounts: () => merges.map(({ accountId }) => accountId) };
}

test('accounts take turns, two at a time, until nothing is due', async (t) => {
  const left = new Map([
    ['a', 3],
    ['b', 1],
    ['c', 0],
  ]);
  const { merging, merges, met, ended, accounts } = setUp({
    async merge(accountId) {
      await turn();
      const sets = left.get(accountId)!;
      left.set(accountId, sets - 1);
      return sets === 0 ? NOTHING : { ...MERGED, mayBeMore: sets > 1 };
    },
  });
  for (const accountId of left.keys()) await merging.store.put([emailOf(accountId, 16)]);
  await ended(5);
  await merging.stop();
  t.deepEqual(accounts().slice(0, 3), ['a', 'b', 'c']);
  t.deepEqual(accounts().toSorted(), ['a', 'a', 'a', 'b', 'c']);
  t.true(merges.every(({ live }) => live === undefined));
  t.deepEqual(met.merged, [1_600, 1_600, 1_600, 1_600], 'what was not due is not measured');
});

test('a merge that fails holds back no other account, and is tried again when the fault is temporary', async (t) => {
  const faults = new Map([
    ['a', new StoreFault('store-unavailable', 'the database is away', { temporary: true })],
    ['b', new Error('octets of a page are missing')],
  ]);
  const { merging, met, ended, accounts } = setUp({
    async merge(accountId) {
      const fault = faults.get(accountId);
      faults.delete(accountId);
      if (fault !== undefined) throw fault;
      return MERGED;
    },
  });
  await merging.store.put([emailOf('a', 16), emailOf('b', 16), emailOf('c', 16)]);
  await ended(4);
  await merging.stop();
  t.deepEqual(accounts().toSorted(), ['a', 'a', 'b', 'c']);
  t.is(met.failed, 2);
});

test('a stop gives up the merges that are under way, and forgets those that wait', async (t) => {
  const { merging, met, accounts } = setUp({
    merge: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  });
  await merging.store.put([emailOf('a', 16), emailOf('b', 16), emailOf('c', 16)]);
  await turn();
  await merging.stop();
  t.deepEqual(accounts(), ['a', 'b']);
  t.deepEqual(met, { merged: [], failed: 0 });
});

test('a merge that goes on for long holds up no other account', async (t) => {
  const { merging, ended, accounts } = setUp({
    merge: (accountId, { signal }) =>
      accountId !== 'large'
        ? Promise.resolve(MERGED)
        : new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
          ),
  });
  await merging.store.put([emailOf('large', 16)]);
  for (const accountId of ['a', 'b', 'c']) await merging.store.put([emailOf(accountId, 16)]);
  while (accounts().length < 4) await turn();
  await merging.stop();
  await ended(4);
  t.deepEqual(accounts(), ['large', 'a', 'b', 'c']);
});
