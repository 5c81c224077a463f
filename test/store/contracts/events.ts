// Defines the contract of the event log, as followers read it.
import { randomUUID } from 'node:crypto';
import type { ChangeContent } from '../../../src/store/changes/changes.js';
import type { Contract } from './stores.js';
import { openWriter, type Writer } from './writer.js';

const DAY = 86_400_000;
const FOREVER = 100 * 365 * DAY;
const JANUARY = Date.UTC(2026, 0, 1);

const UNREAD: ChangeContent = { type: 'UnreadCountChanged', payload: { unread: 1 } };
const ENDED: ChangeContent = { type: 'BodyFiltersEnded', payload: { emailId: randomUUID() } };

const put = (writer: Writer, seq: number, contents: readonly ChangeContent[] = [UNREAD, ENDED], at = JANUARY) =>
  writer.commit(contents, { modseqAfter: seq, at });

export const EVENTS: Contract = {
  async 'the log gives the events of each change in order'(t, stores) {
    const { events } = stores;
    const [mine, other] = [await openWriter(stores), await openWriter(stores)];
    t.is(await events.newest(mine.accountId), 1, 'the modseq of a new account');
    for (const seq of [9, 10, 12]) await put(mine, seq, undefined, JANUARY + seq);
    await put(other, 99);
    t.is(await events.newest(mine.accountId), 12);
    t.deepEqual(await events.read(mine.accountId, 12, 10), []);
    const page = await events.read(mine.accountId, 8, 2);
    t.deepEqual(
      page.map(({ seq, n, type }) => [seq, n, type]),
      [
        [9, 0, 'UnreadCountChanged'],
        [9, 1, 'BodyFiltersEnded'],
        [10, 0, 'UnreadCountChanged'],
        [10, 1, 'BodyFiltersEnded'],
      ],
    );
    t.deepEqual([page[0]!.payload, page[1]!.payload, page[0]!.at], [UNREAD.payload, ENDED.payload, JANUARY + 9]);
  },

  async 'a page ends after the change with which it is large'(t, stores) {
    const writer = await openWriter(stores);
    // 100,000 ids compress to about half at best.
    const filterIds = Array.from({ length: 100_000 }, () => randomUUID());
    const large: ChangeContent = {
      type: 'FiltersAwaitBody',
      payload: { emailId: randomUUID(), filterIds, placed: [] },
    };
    await put(writer, 2);
    for (const seq of [3, 4, 5]) await put(writer, seq, [large]);
    const seqs = async (after: number) => [
      ...new Set((await stores.events.read(writer.accountId, after, 100)).map(({ seq }) => seq)),
    ];
    t.deepEqual([await seqs(0), await seqs(3), await seqs(4), await seqs(5)], [[2, 3], [4], [5], []]);
  },

  async 'the log is pruned from its beginning, by length and by age'(t, stores) {
    const { events } = stores;
    const [mine, other] = [await openWriter(stores), await openWriter(stores)];
    for (const seq of [9, 10, 12]) await put(mine, seq, [UNREAD], JANUARY + (seq - 9) * DAY);
    await put(other, 8, [UNREAD], JANUARY + 3 * DAY);
    const seqs = async ({ accountId }: Writer) => (await events.read(accountId, 0, 100)).map(({ seq }) => seq);
    t.is(await events.prune(FOREVER, 2), 1, 'all but the newest two');
    t.deepEqual([await seqs(mine), await seqs(other)], [[10, 12], [8]]);
    t.is(await events.prune(Date.now() - JANUARY - 2 * DAY, 100), 1, 'the older one');
    t.deepEqual([await seqs(mine), await seqs(other)], [[12], [8]]);
    // A clock that was ahead must leave no gap: the log is pruned up to the last entry that is old enough.
    for (const [seq, at] of [
      [13, Date.now()],
      [14, JANUARY],
      [15, Date.now()],
    ] as const)
      await put(mine, seq, [UNREAD], at);
    t.is(await events.prune(Date.now() - JANUARY - DAY, 100), 3);
    t.deepEqual([await seqs(mine), await seqs(other)], [[15], [8]]);
  },
};
