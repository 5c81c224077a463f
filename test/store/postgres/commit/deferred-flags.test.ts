// Tests deferred flag writes in PostgreSQL: whenever, in whatever pieces and how often they are written to the emails, a mailbox reads
// the flags of the last change.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { uuidText } from '../../../../src/mail-format/ids.js';
import type { ChangeContent } from '../../../../src/store/changes/changes.js';
import { startFlagFlushing } from '../../../../src/store/flag-flushing.js';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { runs } from '../../../support/amounts.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';
import { contentsOf, emailsOf } from '../../contracts/contents.js';
import { onPostgres, type Stores } from '../../contracts/stores.js';
import { flaggedTogether, openWriter, type Writer } from '../../contracts/writer.js';

const EMAILS = 7;

async function mailboxOf(stores: Stores): Promise<{ readonly writer: Writer; readonly ids: string[] }> {
  const writer = await openWriter(stores);
  const ids: string[] = [];
  for (let i = 0; i < EMAILS; i++) ids.push((await writer.add()).id);
  return { writer, ids };
}

const uuidsOf = (packed: Uint8Array): string[] =>
  Array.from({ length: packed.length / 16 }, (_, i) => uuidText(packed, i * 16));

const some = fc.uniqueArray(fc.nat(EMAILS - 1), { minLength: 1 });
const flags = fc.nat(0x1fff);
/** Undefined: keywords stay. */
const keywords = fc.option(fc.subarray(['Later', 'Work']), { nil: undefined });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('together' as const), some, flags, keywords }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('alone' as const), some, flags, isTagged: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('both' as const), some, flags, keywords }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('write' as const), most: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), some }) },
);

test('a mailbox has the flags and keywords of the last change, however deferred writes are written', async (t) => {
  const stores = await onPostgres(t);
  const { deferredFlags } = stores;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const { writer, ids } = await mailboxOf(stores);
      const { accountId } = writer;
      type Email = { readonly flags: number; readonly modseq: number; readonly keywords: readonly string[] };
      const model = new Map<string, Email>(ids.map((id, i) => [id, { flags: 0, modseq: i + 2, keywords: [] }]));
      const set = (id: string, value: number, named: readonly string[] | undefined) =>
        void model.set(id, { flags: value, modseq: writer.modseq + 1, keywords: named ?? model.get(id)!.keywords });
      const keywordsOf = (id: string) => model.get(id)!.keywords;
      for (const next of steps) {
        const chosen = 'some' in next ? next.some.map((i) => ids[i]!).filter((id) => model.has(id)) : [];
        if (next.kind === 'write') await deferredFlags.write(accountId, next.most);
        if (next.kind === 'drop') await deferredFlags.dropCovered(accountId);
        if (chosen.length === 0) continue;
        const changes: ChangeContent[] = [];
        if (next.kind === 'together' || next.kind === 'both') {
          for (const id of chosen) set(id, next.flags, next.keywords);
          changes.push(flaggedTogether(chosen, next.flags, next.keywords));
        }
        if (next.kind === 'alone' || next.kind === 'both') {
          const value = next.flags ^ 1;
          const named = next.kind === 'alone' && next.isTagged ? ['Work'] : undefined;
          set(chosen[0]!, value, named);
          changes.push({
            type: 'FlagsChanged',
            payload: { emailId: chosen[0]!, flags: value, changed: 1, ...(named && { keywords: named }) },
          });
        }
        if (next.kind === 'remove') {
          model.delete(chosen[0]!);
          changes.push({ type: 'EmailRemoved', payload: { emailId: chosen[0]!, placements: [] } });
        }
        if (changes.length > 0) t.is((await writer.commit(changes, { keywordsOf })).kind, 'committed');
      }
      const expected = [...model].map(([id, { flags, modseq }]) => ({ id, flags, modseq }));
      const found = async () =>
        (await emailsOf(stores, accountId)).map(({ id, flags, modseq }) => ({ id, flags, modseq }));
      const named = async () => {
        const sets = await stores.mailboxes.keywords(accountId);
        return sets
          .flatMap(({ names, emailIds }) => uuidsOf(emailIds).map((id) => [id, [...names]] as const))
          .sort(([a], [b]) => (a < b ? -1 : 1));
      };
      const expectedNames = [...model].flatMap(([id, { keywords: each }]) =>
        each.length === 0 ? [] : [[id, [...each]]],
      );
      t.deepEqual(await found(), expected);
      t.deepEqual(await named(), expectedNames);
      t.deepEqual(await found(), expected);
      const before = await contentsOf(stores, accountId);
      while (await deferredFlags.write(accountId, 3));
      t.deepEqual(await contentsOf(stores, accountId), before);
      t.deepEqual(await found(), expected);
    }),
    { numRuns: runs(60) },
  );
});

test('accounts that commit deferred writes together get their own ids', async (t) => {
  const stores = await onPostgres(t);
  const mailboxes = [await mailboxOf(stores), await mailboxOf(stores), await mailboxOf(stores)];
  await Promise.all(
    mailboxes.map(({ writer, ids }, i) =>
      writer.commit([flaggedTogether(ids.slice(0, 2 + i), 1), flaggedTogether(ids.slice(2 + i), 2)]),
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
    while (await stores.deferredFlags.write(writer.accountId, 100));
    t.deepEqual(await found(), expected);
  }
});

test('deferred writes that a newer one covers are dropped, others are not', async (t) => {
  const stores = await onPostgres(t);
  const { writer, ids } = await mailboxOf(stores);
  for (const flags of [1, 0, 1, 4]) await writer.commit([flaggedTogether(ids, flags)]);
  await writer.commit([flaggedTogether(ids.slice(0, 3), 8)]);
  await writer.commit([flaggedTogether(ids.slice(1, 4), 16)]);
  t.is(await stores.deferredFlags.dropCovered(writer.accountId), 3);
  t.is(await stores.deferredFlags.dropCovered(writer.accountId), 3);
  t.deepEqual(
    (await emailsOf(stores, writer.accountId)).map(({ flags }) => flags),
    [8, 16, 16, 16, 4, 4, 4],
  );
});

test('of changes of two halves by turns the last of each are left', async (t) => {
  const stores = await onPostgres(t);
  const { writer, ids } = await mailboxOf(stores);
  const halves = [ids.slice(0, 3), ids.slice(3, 6)];
  for (let flags = 1; flags <= 8; flags++) await writer.commit([flaggedTogether(halves[flags % 2]!, flags)]);
  t.is(await stores.deferredFlags.dropCovered(writer.accountId), 2);
  t.deepEqual(
    (await emailsOf(stores, writer.accountId)).map(({ flags }) => flags),
    [8, 8, 8, 7, 7, 7, 0],
  );
});

/** Returns stores whose deferred writes are written only when a commit needs room. */
async function unwritten(t: ExecutionContext) {
  const { address } = await migratedDatabase(t);
  const deferredFlags = {
    makeRoom: (accountId: string) => flushing.makeRoom(accountId),
    mayHave: () => true,
    note: (accountId: string) => flushing.note(accountId),
  };
  const stores = await onPostgres(t, deferredFlags, address);
  const faults: unknown[] = [];
  let writes = 0;
  const write = (...of: Parameters<typeof stores.deferredFlags.write>) => {
    writes++;
    return stores.deferredFlags.write(...of);
  };
  const flushing = startFlagFlushing({
    rows: { ...stores.deferredFlags, write },
    failed: (...of) => void faults.push(of),
    quietMs: 3_600_000,
  });
  const sql = connect(address, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end());
  const deferredCount = async (accountId: string) => {
    const rows = await sql`select from deferred_flag_writes where account_id = ${accountId}`;
    return rows.length;
  };
  return { stores, flushing, faults, written: () => writes, deferredCount };
}

test('hundreds of quick changes of all emails are deferred writes, of which there are never many', async (t) => {
  const rounds = 300;
  const { stores, flushing, faults, written, deferredCount } = await unwritten(t);
  const { writer, ids } = await mailboxOf(stores);
  const { accountId } = writer;
  for (let round = 1; round <= rounds; round++) {
    t.is((await writer.commit([flaggedTogether(ids, round)])).kind, 'committed');
    if (round % 10 !== 0) continue;
    const count = await deferredCount(accountId);
    t.true(count <= 24, `${count} deferred writes`);
  }
  t.true(written() < rounds / 4, `${written()} deferred writes were written`);
  await flushing.stop();
  t.deepEqual(faults, []);
  t.deepEqual(
    (await emailsOf(stores, accountId)).map(({ flags }) => flags),
    ids.map(() => rounds),
  );
});

test('of changes that do not cover each other there are never many either: a commit waits until the oldest is written', async (t) => {
  const { stores, flushing, faults, written, deferredCount } = await unwritten(t);
  const { writer, ids } = await mailboxOf(stores);
  const { accountId } = writer;
  const flags = ids.map(() => 0);
  const parts = ids.flatMap((_, from) => ids.slice(from).map((_id, more) => [from, from + more + 1] as const));
  for (let round = 1; round <= 60; round++) {
    const [from, to] = parts[(round * 5) % parts.length]!;
    flags.fill(round, from, to);
    t.is((await writer.commit([flaggedTogether(ids.slice(from, to), round)])).kind, 'committed');
    const count = await deferredCount(accountId);
    t.true(count <= 24, `${count} deferred writes`);
  }
  t.true(written() > 0);
  await flushing.stop();
  t.deepEqual(faults, []);
  t.deepEqual(
    (await emailsOf(stores, accountId)).map((email) => email.flags),
    flags,
  );
});

test('a commit changes and removes emails of its own deferred writes', async (t) => {
  const stores = await onPostgres(t);
  const { writer, ids } = await mailboxOf(stores);
  const { accountId } = writer;
  const alone = { emailId: ids[1]!, flags: 4, changed: 1, keywords: ['Work'] };
  await writer.commit([
    flaggedTogether(ids, 5),
    flaggedTogether(ids.slice(5), 2),
    { type: 'FlagsChanged', payload: alone },
    {
      type: 'EmailRemoved',
      payload: { emailId: ids[0]!, placements: [{ folderId: writer.folder('inbox'), uid: 2 }] },
    },
  ]);
  t.deepEqual(
    (await emailsOf(stores, accountId)).map(({ id, flags, modseq }) => ({ id, flags, modseq })),
    ids.slice(1).map((id, i) => ({ id, flags: [4, 5, 5, 5, 2, 2][i]!, modseq: EMAILS + 2 })),
  );
});

test('deferred writes that several nodes write at once beside commits and pruning', async (t) => {
  const stores = await onPostgres(t);
  const { writer, ids } = await mailboxOf(stores);
  const { accountId } = writer;
  const { deferredFlags, events } = stores;
  let isOver = false;
  const again = async (work: () => Promise<unknown>) => {
    while (!isOver) await work();
  };
  const nodes = [
    again(() => deferredFlags.write(accountId, 1)),
    again(() => deferredFlags.write(accountId, 3)),
    again(() => deferredFlags.dropCovered(accountId)),
    again(() => events.prune(100 * 365 * 86_400_000, 1)),
  ];
  const model = new Map(ids.map((id, i) => [id, { flags: 0, modseq: i + 2 }]));
  for (let round = 0; round < 60; round++) {
    const seq = writer.modseq + 1;
    const some = round % 3 === 0 ? ids : ids.slice(round % 4, 4 + (round % 3));
    const single = ids[round % EMAILS]!;
    for (const id of some) model.set(id, { flags: round, modseq: seq });
    model.set(single, { flags: round + 1, modseq: seq });
    await writer.commit([
      flaggedTogether(some, round),
      { type: 'FlagsChanged', payload: { emailId: single, flags: round + 1, changed: 1 } },
    ]);
    t.deepEqual(
      (await emailsOf(stores, accountId)).map(({ id, flags, modseq }) => ({ id, flags, modseq })),
      [...model].map(([id, email]) => ({ id, ...email })),
    );
  }
  isOver = true;
  await Promise.all(nodes);
});

test('the log keeps the ids of deferred writes that are not written yet', async (t) => {
  const stores = await onPostgres(t);
  const { writer, ids } = await mailboxOf(stores);
  const { accountId } = writer;
  await writer.commit([flaggedTogether(ids, 5)]);
  await writer.add();
  await stores.events.prune(100 * 365 * 86_400_000, 0);
  t.deepEqual(
    (await stores.events.read(accountId, 0, 100)).map(({ seq }) => seq),
    [EMAILS + 2, EMAILS + 3],
  );
  t.deepEqual(await stores.deferredFlags.behind(-60_000, 10), [accountId]);
  while (await stores.deferredFlags.write(accountId, 100));
  t.deepEqual(await stores.deferredFlags.behind(-60_000, 10), []);
  await stores.events.prune(100 * 365 * 86_400_000, 0);
  t.deepEqual(await stores.events.read(accountId, 0, 100), []);
  t.deepEqual(
    (await emailsOf(stores, accountId)).map(({ flags }) => flags),
    [...ids.map(() => 5), 0],
  );
});
