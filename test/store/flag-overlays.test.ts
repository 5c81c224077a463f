// Overlays of flags in PostgreSQL: whenever, in whatever pieces and how often they are written to the emails, a mailbox that is
// read has the flags of the last change.
import test from 'ava';
import fc from 'fast-check';
import { PackedIds } from '../../src/mail/packed-ids.js';
import type { ChangeContent } from '../../src/store/changes.js';
import { contentsOf, emailsOf } from './contracts/contents.js';
import { onPostgres, type Stores } from './contracts/stores.js';
import { openWriter, type Writer } from './contracts/writer.js';

const EMAILS = 7;

const together = (ids: readonly string[], flags: number): ChangeContent => {
  const [emailId, ...others] = ids;
  return { type: 'FlagsChanged', payload: { emailId: emailId!, flags, changed: flags, others: PackedIds.of(others) } };
};

async function mailboxOf(stores: Stores): Promise<{ readonly writer: Writer; readonly ids: string[] }> {
  const writer = await openWriter(stores);
  const ids: string[] = [];
  for (let i = 0; i < EMAILS; i++) ids.push((await writer.add()).id);
  return { writer, ids };
}

const some = fc.uniqueArray(fc.nat(EMAILS - 1), { minLength: 1 });
const flags = fc.nat(0x1fff);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('together' as const), some, flags }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('alone' as const), some, flags, isTagged: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('both' as const), some, flags }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('write' as const), most: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), some }) },
);

test('a mailbox has the flags of the last change, however overlays are written', async (t) => {
  const stores = await onPostgres(t);
  const { overlays } = stores;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const { writer, ids } = await mailboxOf(stores);
      const { accountId } = writer;
      const model = new Map(ids.map((id, i) => [id, { flags: 0, modseq: i + 2 }]));
      const set = (id: string, value: number) => void model.set(id, { flags: value, modseq: writer.modseq + 1 });
      for (const next of steps) {
        const chosen = 'some' in next ? next.some.map((i) => ids[i]!).filter((id) => model.has(id)) : [];
        if (next.kind === 'write') await overlays.write(accountId, next.most);
        if (next.kind === 'drop') await overlays.dropCovered(accountId);
        if (chosen.length === 0) continue;
        const changes: ChangeContent[] = [];
        if (next.kind === 'together' || next.kind === 'both') {
          for (const id of chosen) set(id, next.flags);
          changes.push(together(chosen, next.flags));
        }
        if (next.kind === 'alone' || next.kind === 'both') {
          const value = next.flags ^ 1;
          set(chosen[0]!, value);
          const keywords = next.kind === 'alone' && next.isTagged ? { keywords: ['Work'] } : {};
          changes.push({
            type: 'FlagsChanged',
            payload: { emailId: chosen[0]!, flags: value, changed: 1, ...keywords },
          });
        }
        if (next.kind === 'remove') {
          model.delete(chosen[0]!);
          changes.push({ type: 'EmailRemoved', payload: { emailId: chosen[0]!, placements: [] } });
        }
        if (changes.length > 0) t.is((await writer.commit(changes)).kind, 'committed');
      }
      const expected = [...model].map(([id, email]) => ({ id, ...email }));
      const found = async () =>
        (await emailsOf(stores, accountId)).map(({ id, flags, modseq }) => ({ id, flags, modseq }));
      t.deepEqual(await found(), expected);
      const before = await contentsOf(stores, accountId);
      while (await overlays.write(accountId, 3));
      t.deepEqual(await contentsOf(stores, accountId), before);
      t.deepEqual(await found(), expected);
    }),
    { numRuns: 60 },
  );
});

test('accounts that commit overlays together get their own ids', async (t) => {
  const stores = await onPostgres(t);
  const mailboxes = [await mailboxOf(stores), await mailboxOf(stores), await mailboxOf(stores)];
  await Promise.all(
    mailboxes.map(({ writer, ids }, i) =>
      writer.commit([together(ids.slice(0, 2 + i), 1), together(ids.slice(2 + i), 2)]),
    ),
  );
  for (const [i, { writer, ids }] of mailboxes.entries()) {
    const expected = ids.map((id, n) => [id, n < 2 + i ? 1 : 2]);
    const found = async () => (await emailsOf(stores, writer.accountId)).map(({ id, flags }) => [id, flags]);
    t.deepEqual(await found(), expected);
    const entries = (await stores.events.read(writer.accountId, EMAILS + 1, 1)).map(({ payload }) => payload);
    t.like(entries, [
      { emailId: ids[0], others: ids.slice(1, 2 + i) },
      { emailId: ids[2 + i], others: ids.slice(3 + i) },
    ]);
    while (await stores.overlays.write(writer.accountId, 100));
    t.deepEqual(await found(), expected);
  }
});

test('overlays that a newer one covers are dropped, others are not', async (t) => {
  const stores = await onPostgres(t);
  const { writer, ids } = await mailboxOf(stores);
  for (const flags of [1, 0, 1, 4]) await writer.commit([together(ids, flags)]);
  await writer.commit([together(ids.slice(0, 3), 8)]);
  await writer.commit([together(ids.slice(1, 4), 16)]);
  t.is(await stores.overlays.dropCovered(writer.accountId), 3);
  t.is(await stores.overlays.dropCovered(writer.accountId), 3);
  t.deepEqual(
    (await emailsOf(stores, writer.accountId)).map(({ flags }) => flags),
    [8, 16, 16, 16, 4, 4, 4],
  );
});

test('the log keeps the ids of overlays that are not written yet', async (t) => {
  const stores = await onPostgres(t);
  const { writer, ids } = await mailboxOf(stores);
  const { accountId } = writer;
  await writer.commit([together(ids, 5)]);
  await writer.add();
  await stores.events.prune(100 * 365 * 86_400_000, 0);
  t.deepEqual(
    (await stores.events.read(accountId, 0, 100)).map(({ seq }) => seq),
    [EMAILS + 2, EMAILS + 3],
  );
  t.deepEqual(await stores.overlays.behind(-60_000, 10), [accountId]);
  while (await stores.overlays.write(accountId, 100));
  t.deepEqual(await stores.overlays.behind(-60_000, 10), []);
  await stores.events.prune(100 * 365 * 86_400_000, 0);
  t.deepEqual(await stores.events.read(accountId, 0, 100), []);
  t.deepEqual(
    (await emailsOf(stores, accountId)).map(({ flags }) => flags),
    [...ids.map(() => 5), 0],
  );
});
