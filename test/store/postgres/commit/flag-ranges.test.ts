// Tests ranges of flags in PostgreSQL: a change of many flags that is committed with UIDs has its ids in the log before its emails
// go, and reads like one that was committed with ids.
import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { PackedIds } from '../../../../src/mail/packed-ids.js';
import type { ChangeContent } from '../../../../src/store/changes/changes.js';
import { deleteAccountRows } from '../../../../src/store/postgres/accounts/account-rows.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { runs } from '../../../support/amounts.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';
import { emailsOf } from '../../contracts/contents.js';
import { onPostgres, type Stores } from '../../contracts/stores.js';
import { flaggedInFolder, flaggedTogether, newFolder, openWriter, type Writer } from '../../contracts/writer.js';

const EMAILS = 7;

/** The expected content of a mailbox and its log. Emails have UIDs in their order. */
class Model {
  readonly writer: Writer;
  readonly ids: readonly string[];
  readonly flags: Map<string, { readonly flags: number; readonly modseq: number }>;
  readonly inbox: Set<string>;
  readonly log: string[][] = [];

  private constructor(writer: Writer, ids: readonly string[]) {
    this.writer = writer;
    this.ids = ids;
    this.flags = new Map(ids.map((id, i) => [id, { flags: 0, modseq: i + 2 }]));
    this.inbox = new Set(ids);
  }

  static async create(stores: Stores): Promise<Model> {
    const writer = await openWriter(stores);
    const folderId = writer.folder('inbox');
    const ids: string[] = [];
    // There are gaps between the UIDs, so a range has more than its first and last one.
    for (let i = 0; i < EMAILS; i++) ids.push((await writer.add({}, [{ folderId, uid: 2 + i * 2 }])).id);
    return new Model(writer, ids);
  }

  uid(id: string): number {
    return 2 + this.ids.indexOf(id) * 2;
  }

  /** Returns the emails of the inbox from one index to another. */
  between(first: number, last: number): string[] {
    return this.ids.slice(Math.min(first, last), Math.max(first, last) + 1).filter((id) => this.inbox.has(id));
  }

  /** Returns the record of a flag change of consecutive emails in the inbox. */
  ranged(ids: readonly string[], flags: number): ChangeContent {
    this.#flag(ids, flags);
    return flaggedInFolder(this.writer.folder('inbox'), ids, flags, this.uid(ids[0]!), this.uid(ids.at(-1)!));
  }

  together(ids: readonly string[], flags: number): ChangeContent {
    this.#flag(ids, flags);
    return flaggedTogether(ids, flags);
  }

  /** Returns the records of a move to the archive. */
  move(id: string): ChangeContent[] {
    this.inbox.delete(id);
    const [inbox, archive] = [this.writer.folder('inbox'), this.writer.folder('archive')];
    return [
      { type: 'EmailPlaced', payload: { emailId: id, folderId: archive, uid: this.uid(id) } },
      { type: 'EmailExpunged', payload: { emailId: id, folderId: inbox, uid: this.uid(id) } },
    ];
  }

  remove(id: string): ChangeContent {
    this.inbox.delete(id);
    this.flags.delete(id);
    const placements = [{ folderId: this.writer.folder('inbox'), uid: this.uid(id) }];
    return { type: 'EmailRemoved', payload: { emailId: id, placements } };
  }

  #flag(ids: readonly string[], flags: number): void {
    for (const id of ids) this.flags.set(id, { flags, modseq: this.writer.modseq + 1 });
    this.log.push([...ids]);
  }

  emails() {
    return [...this.flags].map(([id, email]) => ({ id, ...email }));
  }
}

const foundIn = async (stores: Stores, { writer: { accountId } }: Model) =>
  (await emailsOf(stores, accountId)).map(({ id, flags, modseq }) => ({ id, flags, modseq }));

/** Returns the ids in each record of flags. */
async function logOf({ events }: Pick<Stores, 'events'>, { writer: { accountId } }: Model): Promise<string[][]> {
  const records = (await events.read(accountId, 0, 1_000)).filter(({ type }) => type === 'FlagsChanged');
  return records.map(({ payload }) => {
    const { emailId, others } = payload as { readonly emailId: string; readonly others: readonly string[] };
    return [emailId, ...others];
  });
}

const pending = async (sql: Sql, { writer: { accountId } }: Model) =>
  (await sql`select from flag_ranges where account_id = ${accountId}`).length;

const at = fc.nat(EMAILS - 1);
const flags = fc.nat(0x1fff);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ranged' as const), first: at, last: at, flags }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('halves' as const), first: at, last: at, flags }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('together' as const), first: at, last: at, flags }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), first: at, last: at, flags }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), first: at, last: at, flags }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), most: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
);

/** Opens stores with a mailbox, and another pool of this many connections. */
async function opened(t: ExecutionContext, connections: number) {
  const { address } = await migratedDatabase(t);
  const stores = await onPostgres(t, undefined, address);
  const sql = connect(address, { max: connections, applicationName: 'test' });
  t.teardown(() => sql.end());
  return { stores, sql, model: await Model.create(stores) };
}

test('ranges hold for the emails that were in them, whatever happens to the emails later', async (t) => {
  const stores = await onPostgres(t);
  const { overlays } = stores;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const model = await Model.create(stores);
      const { writer } = model;
      for (const next of steps) {
        if (next.kind === 'write') await overlays.write(writer.accountId, next.most);
        if (next.kind === 'drop') await overlays.dropCovered(writer.accountId);
        const chosen = 'first' in next ? model.between(next.first, next.last) : [];
        if (!('first' in next) || chosen.length === 0) continue;
        const changes: ChangeContent[] = [];
        if (next.kind === 'ranged' || next.kind === 'move') changes.push(model.ranged(chosen, next.flags));
        if (next.kind === 'together') changes.push(model.together(chosen, next.flags));
        if (next.kind === 'halves') {
          const half = Math.ceil(chosen.length / 2);
          changes.push(model.ranged(chosen.slice(0, half), next.flags));
          if (chosen.length > half) changes.push(model.ranged(chosen.slice(half), next.flags ^ 1));
        }
        // The move shares the commit of a range; other changes follow one.
        if (next.kind === 'move') changes.push(...model.move(chosen[0]!));
        if (next.kind === 'remove') changes.push(model.remove(chosen[0]!));
        t.is((await writer.commit(changes)).kind, 'committed');
        t.deepEqual(await foundIn(stores, model), model.emails());
        t.deepEqual(await logOf(stores, model), model.log);
      }
      while (await overlays.write(writer.accountId, 3));
      t.deepEqual(await foundIn(stores, model), model.emails());
      t.deepEqual(await logOf(stores, model), model.log);
    }),
    { numRuns: runs(60) },
  );
});

test('a folder that is deleted with its emails leaves their ids in the log', async (t) => {
  const stores = await onPostgres(t);
  const model = await Model.create(stores);
  const { writer, ids } = model;
  const folder = newFolder();
  const placed = ids.map((emailId, i): ChangeContent => {
    return { type: 'EmailPlaced', payload: { emailId, folderId: folder.id, uid: 1 + i } };
  });
  const counters = [{ id: folder.id, uidNext: EMAILS + 1, total: EMAILS, unread: EMAILS, highestModseq: EMAILS + 2 }];
  await writer.commit([{ type: 'FolderCreated', payload: { folder } }, ...placed], { counters });
  await writer.commit([flaggedInFolder(folder.id, ids, 5, 1, EMAILS)]);
  const deleted = { folderId: folder.id, role: folder.role, placed: null };
  await writer.commit([{ type: 'FolderDeleted', payload: deleted }]);
  t.deepEqual(await logOf(stores, model), [[...ids]]);
  while (await stores.overlays.write(writer.accountId, 3));
  t.deepEqual(
    (await foundIn(stores, model)).map(({ flags }) => flags),
    ids.map(() => 5),
  );
});

test('emails that leave their folder together, by packed ids, leave their flags and their ids in the log', async (t) => {
  const stores = await onPostgres(t);
  const model = await Model.create(stores);
  const { writer, ids } = model;
  const [from, to] = [newFolder(), newFolder()];
  const counters = [from, to].map(({ id }) => {
    return { id, uidNext: EMAILS + 1, total: EMAILS, unread: EMAILS, highestModseq: EMAILS + 2 };
  });
  const [emailId, ...others] = ids as [string, ...string[]];
  const all = (folderId: string) => ({ folderId, emailId, uid: 1, others: PackedIds.of(others) });
  await writer.commit(
    [
      { type: 'FolderCreated', payload: { folder: from } },
      { type: 'FolderCreated', payload: { folder: to } },
      { type: 'EmailPlaced', payload: all(from.id) },
    ],
    { counters },
  );
  await writer.commit([flaggedInFolder(from.id, ids, 5, 1, EMAILS)]);
  await writer.commit([
    { type: 'EmailPlaced', payload: all(to.id) },
    { type: 'EmailExpunged', payload: all(from.id) },
  ]);
  t.deepEqual(await logOf(stores, model), [[...ids]]);
  const flags = async () => (await foundIn(stores, model)).map((email) => email.flags);
  t.deepEqual(
    await flags(),
    ids.map(() => 5),
  );
  while (await stores.overlays.write(writer.accountId, 3));
  t.deepEqual(
    await flags(),
    ids.map(() => 5),
  );
});

test('accounts that commit ranges together with others that take emails away keep their own', async (t) => {
  const stores = await onPostgres(t);
  const models = [await Model.create(stores), await Model.create(stores), await Model.create(stores)];
  const [first, second, third] = models as [Model, Model, Model];
  await second.writer.commit([second.ranged(second.ids, 1)]);
  await third.writer.commit([third.ranged(third.ids, 2)]);
  await Promise.all([
    first.writer.commit([first.ranged(first.ids.slice(2), 3)]),
    second.writer.commit([second.remove(second.ids[3]!)]),
    third.writer.commit([third.together(third.ids.slice(1, 4), 4)]),
  ]);
  for (const model of models) {
    t.deepEqual(await foundIn(stores, model), model.emails());
    t.deepEqual(await logOf(stores, model), model.log);
  }
});

test('ranges that several nodes make overlays of at once, beside commits', async (t) => {
  const stores = await onPostgres(t);
  const model = await Model.create(stores);
  const { writer, ids } = model;
  const { overlays } = stores;
  let isOver = false;
  const again = async (work: () => Promise<unknown>) => {
    while (!isOver) await work();
  };
  const nodes = [
    again(() => overlays.write(writer.accountId, 1)),
    again(() => overlays.write(writer.accountId, 3)),
    again(() => overlays.dropCovered(writer.accountId)),
  ];
  for (let round = 0; round < 60; round++) {
    const chosen = round % 3 === 0 ? model.between(0, EMAILS) : model.between(round % 4, 4 + (round % 3));
    if (chosen.length > 0) await writer.commit([model.ranged(chosen, round)]);
    if (round % 10 === 9) await writer.commit([model.remove(ids[Math.floor(round / 10)]!)]);
    t.deepEqual(await foundIn(stores, model), model.emails());
    t.deepEqual(await logOf(stores, model), model.log);
  }
  isOver = true;
  await Promise.all(nodes);
});

test('a page of the log counts ids that are not in it yet', async (t) => {
  const { stores, sql, model } = await opened(t, 1);
  const { writer, ids } = model;
  for (const value of [1, 2, 3]) await writer.commit([model.ranged(ids, value)]);
  const seqs = async () => (await stores.events.read(writer.accountId, EMAILS + 1, 10)).map(({ seq }) => seq);
  t.is((await seqs()).length, 3);
  await sql`update flag_ranges set count = 70000`;
  t.is((await seqs()).length, 1);
});

test('the log keeps entries whose ids are not in it yet, and accounts with ranges are found', async (t) => {
  const stores = await onPostgres(t);
  const model = await Model.create(stores);
  const { writer, ids } = model;
  await writer.commit([model.ranged(ids, 5)]);
  await writer.add({}, [{ folderId: writer.folder('archive'), uid: 1 }]);
  await stores.events.prune(100 * 365 * 86_400_000, 0);
  t.deepEqual(await logOf(stores, model), model.log);
  t.deepEqual(await stores.overlays.behind(-60_000, 10), [writer.accountId]);
  while (await stores.overlays.write(writer.accountId, 100));
  t.deepEqual(await stores.overlays.behind(-60_000, 10), []);
  await stores.events.prune(100 * 365 * 86_400_000, 0);
  t.deepEqual(await stores.events.read(writer.accountId, 0, 100), []);
});

/** Resolves when a statement with this text waits for a lock. */
async function untilBlocked(sql: Sql, text: string): Promise<void> {
  const blocked = () => sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and query like ${`%${text}%`} and pid <> pg_backend_pid()`;
  while ((await blocked()).length === 0);
}

test('who waits for an account holds none of its ranges', async (t) => {
  const { stores, sql, model } = await opened(t, 2);
  const { writer, ids } = model;
  await writer.commit([model.ranged(ids, 5)]);
  let committing: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from accounts where id = ${writer.accountId} for update`;
    committing = writer.commit([model.remove(ids[3]!)]);
    await untilBlocked(sql, 'passed as');
    t.is((await tx`select from flag_ranges where account_id = ${writer.accountId} for update skip locked`).length, 1);
  });
  await committing;
  t.deepEqual(await foundIn(stores, model), model.emails());
  t.deepEqual(await logOf(stores, model), model.log);
});

test('an account is deleted while its ranges become overlays', async (t) => {
  const { stores, sql, model } = await opened(t, 3);
  const { writer, ids } = model;
  await writer.commit([model.together(ids.slice(2), 4)]);
  await writer.commit([model.ranged(ids, 5)]);
  let working: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from flag_overlays where account_id = ${writer.accountId} for update`;
    const deleting = sql.begin(async (deletion) => {
      // It waits until the other one waits too, however busy the machine is.
      await deletion`set local lock_timeout = '60s'`;
      await deleteAccountRows(deletion, writer.accountId);
    });
    await untilBlocked(sql, 'delete from "flag_overlays"');
    working = Promise.all([deleting, stores.overlays.write(writer.accountId, 100)]);
    await untilBlocked(sql, 'expand_flag_ranges');
  });
  await t.notThrowsAsync(working!);
  t.is(await pending(sql, model), 0);
  t.is((await sql`select from flag_overlays where account_id = ${writer.accountId}`).length, 0);
});
