// Tests that a mailbox loaded from PostgreSQL equals the one that was in memory: emails, folders, keywords, `\Deleted`,
// expunged UIDs, over several pages.
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { FolderColumns } from '../../../../src/actors/mailbox/state/folder-columns.js';
import { loadMailbox, MailboxState } from '../../../../src/actors/mailbox/state/state.js';
import { uuidV7 } from '../../../../src/mail-format/ids.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresEvents } from '../../../../src/store/postgres/mailbox/events.js';
import { postgresMailboxes } from '../../../../src/store/postgres/mailbox/mailboxes.js';
import { migratedSql } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

/** This is more than a page of the store. */
const EMAILS = 21_000;
const START = Date.UTC(2026, 0, 1);
const RANDOM = Buffer.from('0123456789abcdef', 'hex');

test('a mailbox that is loaded is the one that was in memory', async (t) => {
  const { sql, store, accountId } = await account(t);
  const before = await filled(sql, store, accountId);
  const after = await load(store, accountId);
  t.deepEqual(contents(after), contents(before));
  t.true(after.octets <= before.octets);
  t.is(await load(store, randomUUID()).catch((error: Error) => error.message), 'noSuchAccount');
});

test('UIDs that were expunged are known for as long as the log reaches back', async (t) => {
  const { sql, store, accountId } = await account(t);
  const before = await filled(sql, store, accountId);
  const id = before.folderOf('inbox').row.id;
  const since = async (modseq: number) => (await load(store, accountId)).folders.get(id)!.expungedSince(modseq);
  t.deepEqual(await since(5), before.folders.get(id)!.expungedSince(5));
  await postgresEvents(sql).prune(100 * 365 * 86_400_000, before.modseq - 6);
  t.deepEqual(await since(5), { uids: (await since(6)).uids, isComplete: false });
  t.deepEqual(await since(6), before.folders.get(id)!.expungedSince(6));
  t.true((await since(6)).isComplete);
  await sql`delete from events where account_id = ${accountId}`;
  await sql`delete from expunged where account_id = ${accountId}`;
  t.deepEqual(await since(before.modseq), { uids: new Uint32Array(0), isComplete: true });
  t.false((await since(before.modseq - 1)).isComplete, 'an empty log reaches back to the last change only');
});

async function account(t: ExecutionContext) {
  const sql = await migratedSql(t, { max: 4 });
  const { id: accountId } = await postgresDirectory(sql, 1).createAccount('a@b.test', 'A');
  return { sql, store: postgresMailboxes(sql, sql), accountId };
}

type Store = ReturnType<typeof postgresMailboxes>;

async function load(store: Store, accountId: string): Promise<MailboxState> {
  const loaded = await loadMailbox(store, accountId, 1);
  if (loaded.kind !== 'loaded') throw new Error(loaded.kind);
  return loaded.state;
}

/** Builds the same mailbox in memory, by changes of the columns, and in the tables, by rows. */
async function filled(sql: Sql, store: Store, accountId: string): Promise<MailboxState> {
  const state = new MailboxState(accountId, 1, { kind: 'claimed', modseq: 10, email: 'a@b.test', isUnclaimed: false });
  for (const row of (await store.overview(accountId)).folders) {
    state.folders.set(row.id, new FolderColumns(row, state.emails));
  }
  const [inbox, archive] = [state.folderOf('inbox'), state.folderOf('archive')];
  const emails = Array.from({ length: EMAILS }, (_, i) => ({
    id: uuidV7(START + i, 0, RANDOM),
    flags: i % 0x2000,
    keywords: i % 500 === 0 ? ['Work', `k${i % 3}`] : i % 999 === 0 ? ['Work'] : [],
    receivedAt: START + i - (i % 100 === 0 ? 40 * 86_400_000 : 500),
    size: i === 7 ? 2 ** 33 : i,
    modseq: i === 8 ? 2 ** 33 : 2,
    hasAttachments: i % 2 === 0,
  }));
  const slots = emails.map((email) => state.emails.append(email));
  inbox.placeAll(slots.map((slot, i) => ({ slot, uid: i + 1, modseq: 2 })));
  const moved = slots.filter((slot) => slot % 3 === 0).reverse();
  const [early, late] = [moved.filter((slot) => slot % 2 === 0), moved.filter((slot) => slot % 2 !== 0)];
  inbox.unplaceAll(early, 6);
  inbox.unplaceAll(late, 7);
  archive.placeAll(moved.map((slot, i) => ({ slot, uid: 2 ** 31 + i, modseq: 7 })));
  const deleted = moved.slice(0, 1_000);
  for (const slot of deleted) archive.setDeleted(slot, true, 9);

  const json = (rows: readonly unknown[]) => JSON.stringify(rows);
  await sql`
    insert into emails (account_id, id, blob, thread_id, refs, from_address, from_name, subject, preview, received_at, size,
      has_attachments, attachment_count, flags, keywords, modseq)
    select ${accountId}, id, sha256('x'), id, '{}', '', '', '', '', to_timestamp("receivedAt" / 1000.0), size,
      "hasAttachments", 0, flags, keywords, modseq
    from json_to_recordset(${json(emails)}::text::json) as x (id uuid, flags smallint, keywords text[],
      "receivedAt" double precision, size bigint, modseq bigint, "hasAttachments" boolean)`;
  const placements = [inbox, archive].flatMap((folder) =>
    Array.from({ length: folder.count }, (_, i) => folder.slotAt(i)).map((slot) => ({
      f: folder.row.id,
      u: folder.uidOf(slot),
      e: state.emails.id(slot),
      d: folder.isDeleted(slot),
      m: folder.isDeleted(slot) ? 9 : folder === archive ? 7 : 2,
    })),
  );
  await sql`
    insert into placements (account_id, folder_id, uid, email_id, deleted, modseq)
    select ${accountId}, f, u, e, d, m
    from json_to_recordset(${json(placements)}::text::json) as x (f uuid, u bigint, e uuid, d boolean, m bigint)`;
  const expunged = [...early.map((slot) => ({ u: slot + 1, m: 6 })), ...late.map((slot) => ({ u: slot + 1, m: 7 }))];
  await sql`
    insert into expunged (account_id, folder_id, uid, modseq)
    select ${accountId}, ${inbox.row.id}, u, m from json_to_recordset(${json(expunged)}::text::json) as x (u bigint, m bigint)`;
  await sql`
    insert into events (account_id, seq, entries, at) select ${accountId}, n, '[]', now() from generate_series(1, 10) n`;
  await sql`update accounts set modseq = 10 where id = ${accountId}`;
  return state;
}

/** Returns everything that the columns hold of a mailbox. */
function contents({ emails, folders, modseq }: MailboxState) {
  const slots = Array.from({ length: emails.size }, (_, slot) => slot);
  return {
    modseq,
    emails: slots.map((slot) => [
      emails.id(slot),
      emails.flags(slot),
      emails.keywords(slot),
      emails.receivedAt(slot),
      emails.sizeOf(slot),
      emails.modseq(slot),
      emails.hasAttachments(slot),
      emails.isAlive(slot),
    ]),
    keywords: emails.keywordNames,
    folders: [...folders.values()].map((folder) => ({
      row: folder.row,
      byTime: [...folder.slots()],
      byUid: slots.slice(0, folder.count).map((i) => {
        const slot = folder.slotAt(i);
        return [slot, folder.uidAt(i), folder.isDeleted(slot), folder.modseqOf(slot)];
      }),
      expunged: [0, 5, 6, 7].map((since) => folder.expungedSince(since)),
    })),
  };
}
