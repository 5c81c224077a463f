// Defines the contract of accepted mail that waits for its mailbox. mailboxes.ts covers commits that consume it.
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { blobOf } from '../../../src/store/blobs.js';
import { StoreFault } from '../../../src/store/errors.js';
import { shardOf } from '../../../src/store/shard.js';
import { ALL_SHARDS, type Contract, SHARDS } from './stores.js';
import { newEmail, T0 } from './writer.js';

const CONTENT = blobOf(Buffer.from('Subject: a\r\n\r\nb'));
const {
  id: _id,
  blob: _blob,
  threadId: _threadId,
  receivedAt: _at,
  flags: _flags,
  keywords: _keywords,
  ...SUMMARY
} = newEmail();
const ENVELOPE = { receivedAt: T0, summary: SUMMARY, isJunk: true, trace: 'trace' };

export const INBOUND: Contract = {
  async 'the row of a delivery that has happened can be ended, and no other row'(t, { inbound, account }) {
    const accountId = await account();
    const [ended, other] = [randomUUID(), randomUUID()];
    await inbound.spool(CONTENT, ENVELOPE, [
      { accountId, id: ended, isTried: true },
      { accountId, id: other },
    ]);
    for (const id of [ended, ended, randomUUID()]) await inbound.end({ accountId, id });
    t.deepEqual(
      (await inbound.overdue(ALL_SHARDS, -1000, 10, [])).map(({ id }) => id),
      [other],
    );
  },

  async 'mail waits, a row a delivery, oldest first'(t, { inbound, account }) {
    const [a, b] = [await account(), await account()];
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    await inbound.spool(CONTENT, ENVELOPE, [{ accountId: a, id: first }]);
    const before = Date.now();
    while (Date.now() <= before) await nextTurn();
    await inbound.spool(CONTENT, { ...ENVELOPE, isJunk: false }, [
      { accountId: a, id: second },
      { accountId: b, id: third },
    ]);
    const overdue = (...of: Parameters<typeof inbound.overdue>) => inbound.overdue(...of);
    const rows = await overdue(ALL_SHARDS, -1000, 10, []);
    t.deepEqual(rows[0], { accountId: a, id: first, blob: CONTENT.hash, envelope: ENVELOPE });
    t.deepEqual(
      rows
        .slice(1)
        .map(({ id }) => id)
        .sort(),
      [second, third].sort(),
    );
    t.is((await overdue(ALL_SHARDS, -1000, 1, [])).length, 1);
    t.deepEqual(await overdue(ALL_SHARDS, 60_000, 10, []), []);
    t.deepEqual(
      (await overdue(ALL_SHARDS, -1000, 10, [a])).map(({ id }) => id),
      [third],
    );
    t.deepEqual(await overdue([], -1000, 10, []), []);
    const others = ALL_SHARDS.filter((shard) => shard !== shardOf(b, SHARDS));
    t.false((await overdue(others, -1000, 10, [])).some(({ accountId }) => accountId === b));
  },

  async 'a message of which an account is gone is refused for now, and nothing of it is kept'(t, { inbound, account }) {
    const deliveries = [await account(), randomUUID()].map((accountId) => ({ accountId, id: randomUUID() }));
    const fault = await t.throwsAsync(inbound.spool(CONTENT, ENVELOPE, deliveries), { instanceOf: StoreFault });
    t.like(fault, { code: 'store-conflict', temporary: true });
    t.deepEqual(await inbound.overdue(ALL_SHARDS, -1000, 10, []), []);
  },
};
