// One account's mailbox in PostgreSQL: claiming, columnar loading, list rows. Columns come packed by the server into
// one bytea a few thousand rows, which loads a large mailbox several times faster than row by row.
import type {
  ClaimedAccount,
  CommitResult,
  EmailColumns,
  EmailSummaryRow,
  FolderRole,
  FolderRow,
  MailboxChange,
  MailboxStore,
  PlacementColumns,
} from '../mailboxes.js';
import { type Sql, storeFault } from './client.js';
import { GroupCommit } from './group-commit.js';
import { commitChanges } from './mailbox-commit.js';

const PAGE_ROWS = 20_000;
const EMAIL_OCTETS = 16 + 2 + 8 + 8;
const PLACEMENT_OCTETS = 8 + 16;

/** `writerSql`: a pool made `byKey`. */
export function postgresMailboxes(sql: Sql, writerSql: Sql): MailboxStore {
  const group = new GroupCommit<MailboxChange, CommitResult>((changes) => commitChanges(writerSql, changes), {
    maxItems: 64,
    maxWeight: 1000,
    writers: 2,
    maxWaiting: 1_000_000,
    weigh: (change) => 1 + change.emailsAdded.length + change.emailsFlagged.length + change.emailsRemoved.length,
  });

  async function claim(accountId: string, epoch: number): Promise<ClaimedAccount | undefined> {
    const rows = await guarded(
      () => sql<{ modseq: string; email: string; held: boolean }[]>`
        update accounts set epoch = ${epoch} where id = ${accountId} and epoch <= ${epoch}
        returning modseq, email, held`,
    );
    const row = rows[0];
    return row && { modseq: Number(row.modseq), email: row.email, held: row.held };
  }

  async function folders(accountId: string): Promise<readonly FolderRow[]> {
    const rows = await guarded(
      () => sql<FolderRecord[]>`
        select id, role, name, color, sort_order, uidvalidity, uidnext, total, unread, highest_modseq
        from folders where account_id = ${accountId} order by sort_order, id`,
    );
    return rows.map(folderRow);
  }

  async function* emails(accountId: string): AsyncIterable<EmailColumns> {
    let after = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const rows = await guarded(
        () => sql<{ count: number; last: string | null; packed: Uint8Array | null }[]>`
          select count(*)::int as count, (array_agg(id order by id desc))[1] as last,
            string_agg(uuid_send(id) || int2send(flags) ||
              int8send((extract(epoch from received_at) * 1000)::bigint) || int8send(modseq), ''::bytea order by id
            ) as packed
          from (select id, flags, received_at, modseq from emails
            where account_id = ${accountId} and id > ${after} order by id limit ${PAGE_ROWS}) page`,
      );
      const { count, last, packed } = rows[0]!;
      if (packed === null || last === null) return;
      yield emailColumns(count, packed);
      if (count < PAGE_ROWS) return;
      after = last;
    }
  }

  async function* placements(accountId: string, folderId: string): AsyncIterable<PlacementColumns> {
    let after = 0;
    for (;;) {
      const rows = await guarded(
        () => sql<{ count: number; last: string | null; packed: Uint8Array | null }[]>`
          select count(*)::int as count, max(uid) as last,
            string_agg(int8send(uid) || uuid_send(email_id), ''::bytea order by uid) as packed
          from (select uid, email_id from placements
            where account_id = ${accountId} and folder_id = ${folderId} and uid > ${after}
            order by uid limit ${PAGE_ROWS}) page`,
      );
      const { count, last, packed } = rows[0]!;
      if (packed === null || last === null) return;
      yield placementColumns(count, packed);
      if (count < PAGE_ROWS) return;
      after = Number(last);
    }
  }

  async function summaries(accountId: string, ids: readonly string[]): Promise<readonly EmailSummaryRow[]> {
    if (ids.length === 0) return [];
    const rows = await guarded(
      () => sql<SummaryRecord[]>`
        select id, encode(blob, 'hex') as blob, message_id, thread_id, in_reply_to, refs, from_address, from_name,
          subject, preview, received_at, size, has_attachments, attachment_count
        from emails where account_id = ${accountId} and id = any(${ids as string[]}::uuid[])`,
    );
    return rows.map(summaryRow);
  }

  async function idsFrom(accountId: string, folderId: string, fromAddress: string): Promise<readonly string[]> {
    const rows = await guarded(
      () => sql<{ id: string }[]>`
        select e.id from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
        where p.account_id = ${accountId} and p.folder_id = ${folderId}
          and position(lower(${fromAddress}) in lower(e.from_address)) > 0
        order by e.received_at desc, e.id desc`,
    );
    return rows.map((row) => row.id);
  }

  async function senders(accountId: string, folderId: string): Promise<readonly string[]> {
    const rows = await guarded(
      () => sql<{ address: string }[]>`
        select distinct lower(e.from_address) as address
        from placements p join emails e on e.account_id = p.account_id and e.id = p.email_id
        where p.account_id = ${accountId} and p.folder_id = ${folderId} and e.from_address <> '' order by 1`,
    );
    return rows.map((row) => row.address);
  }

  return {
    claim,
    folders,
    emails,
    placements,
    commit: (change) => group.submit(change),
    summaries,
    idsFrom,
    senders,
  };
}

async function guarded<T>(statement: () => PromiseLike<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw storeFault(error);
  }
}

interface FolderRecord {
  id: string;
  role: FolderRole;
  name: string;
  color: string | null;
  sort_order: number;
  uidvalidity: string;
  uidnext: string;
  total: number;
  unread: number;
  highest_modseq: string;
}

function folderRow(row: FolderRecord): FolderRow {
  return {
    id: row.id,
    role: row.role,
    name: row.name,
    color: row.color,
    sortOrder: row.sort_order,
    uidValidity: Number(row.uidvalidity),
    uidNext: Number(row.uidnext),
    total: row.total,
    unread: row.unread,
    highestModseq: Number(row.highest_modseq),
  };
}

interface SummaryRecord {
  id: string;
  blob: string;
  message_id: string | null;
  thread_id: string;
  in_reply_to: string | null;
  refs: string[];
  from_address: string;
  from_name: string;
  subject: string;
  preview: string;
  received_at: Date;
  size: string;
  has_attachments: boolean;
  attachment_count: number;
}

function summaryRow(row: SummaryRecord): EmailSummaryRow {
  return {
    id: row.id,
    blob: row.blob,
    messageId: row.message_id,
    threadId: row.thread_id,
    inReplyTo: row.in_reply_to,
    references: row.refs,
    fromAddress: row.from_address,
    fromName: row.from_name,
    subject: row.subject,
    preview: row.preview,
    receivedAt: row.received_at.getTime(),
    size: Number(row.size),
    hasAttachments: row.has_attachments,
    attachmentCount: row.attachment_count,
  };
}

function emailColumns(count: number, packed: Uint8Array): EmailColumns {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const ids = new Uint8Array(count * 16);
  const flags = new Uint16Array(count);
  const receivedAt = new Float64Array(count);
  const modseq = new Float64Array(count);
  for (let i = 0, at = 0; i < count; i++, at += EMAIL_OCTETS) {
    ids.set(packed.subarray(at, at + 16), i * 16);
    flags[i] = view.getUint16(at + 16);
    receivedAt[i] = int64(view, at + 18);
    modseq[i] = int64(view, at + 26);
  }
  return { count, ids, flags, receivedAt, modseq };
}

function placementColumns(count: number, packed: Uint8Array): PlacementColumns {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const uids = new Uint32Array(count);
  const emailIds = new Uint8Array(count * 16);
  for (let i = 0, at = 0; i < count; i++, at += PLACEMENT_OCTETS) {
    uids[i] = int64(view, at);
    emailIds.set(packed.subarray(at + 8, at + 24), i * 16);
  }
  return { count, uids, emailIds };
}

/** Exact below 2^53, which times and change numbers are. */
function int64(view: DataView, at: number): number {
  return view.getInt32(at) * 0x100000000 + view.getUint32(at + 4);
}
