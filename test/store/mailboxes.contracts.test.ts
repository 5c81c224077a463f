// Tests the contracts of the stores that a mailbox uses, with PostgreSQL and with the stores in memory.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { runs } from '../support/amounts.js';
import test from '../support/test.js';
import { contentsOf } from './contracts/contents.js';
import { EMAIL_LISTS } from './contracts/email-lists.js';
import { EVENTS } from './contracts/events.js';
import { FOLDER_MESSAGES } from './contracts/folder-messages.js';
import { FOLDERS } from './contracts/folders.js';
import { INBOUND } from './contracts/inbound.js';
import { MAILBOXES } from './contracts/mailboxes.js';
import { OUTBOUND } from './contracts/outbound.js';
import { RandomChanges } from './contracts/random-changes.js';
import { SEARCH } from './contracts/search.js';
import { SHARED_MESSAGES } from './contracts/shared-messages.js';
import { inMemory, onPostgres } from './contracts/stores.js';
import { Writer } from './contracts/writer.js';

const CONTRACTS = {
  ...MAILBOXES,
  ...FOLDERS,
  ...EMAIL_LISTS,
  ...OUTBOUND,
  ...EVENTS,
  ...INBOUND,
  ...SHARED_MESSAGES,
  ...SEARCH,
  ...FOLDER_MESSAGES,
};

for (const [title, run] of Object.entries(CONTRACTS)) {
  test(`PostgreSQL: ${title}`, async (t) => run(t, await onPostgres(t)));
  test(`memory: ${title}`, async (t) => run(t, await inMemory()));
}

const drawn = fc.tuple(fc.nat(), fc.nat(1000), fc.nat(1000), fc.nat(1000));
const batches = fc.array(fc.array(drawn, { maxLength: 12 }), { maxLength: 6 });

test('whatever is committed to both kinds of store reads back equal', async (t) => {
  const [postgres, memory] = [await onPostgres(t), await inMemory()];
  await fc.assert(
    fc.asyncProperty(batches, async (lists) => {
      const accountId = await postgres.account();
      const { folders } = await postgres.mailboxes.overview(accountId);
      memory.tables.addAccount({ id: accountId, folders });
      const writers = [postgres, memory].map((stores) => new Writer(stores, accountId, folders));
      for (const { mailboxes } of [postgres, memory]) await mailboxes.claim(accountId, 1);
      const random = new RandomChanges(folders);
      for (const [i, list] of lists.entries()) {
        const changes = random.changes(list);
        const more = { counters: random.counters(i + 2), remembered: [{ id: randomUUID(), reply: { i } }] };
        for (const writer of writers) t.is((await writer.commit(changes, more)).kind, 'committed');
        if (i % 2 === 1) await postgres.deferredFlags.write(accountId, 2);
        if (i % 3 === 1) await postgres.deferredFlags.dropCovered(accountId);
      }
      t.deepEqual(await contentsOf(memory, accountId), await contentsOf(postgres, accountId));
    }),
    { numRuns: runs(40) },
  );
});
