// Makes many accounts of one email each by SQL, in a fraction of the time that creating and filling them would take. All emails share one
// message.
import { createHash } from 'node:crypto';
import { indexMessage } from '../../src/mail-format/mime-index/indexer.js';
import { newId } from '../../src/store/ids/new-id.js';
import type { Sql } from '../../src/store/postgres/driver/client.js';
import { shardOf } from '../../src/store/shard.js';
import { SHARDS } from './node.js';

const AT_A_TIME = 5_000;
const RAW = Buffer.from(
  `From: Ann <ann@remote.test>\r\nSubject: First\r\n\r\n${'The quick brown fox jumps.\r\n'.repeat(140)}`,
);
const HASH = createHash('sha256').update(RAW).digest('hex');

/** Returns the addresses of the accounts, all in `domain`. */
export async function fillAccounts(sql: Sql, domain: string, count: number): Promise<string[]> {
  await sql`set synchronous_commit = off`;
  await sql`
    insert into blobs (hash, size, mime_index)
    values (decode(${HASH}, 'hex'), ${RAW.length}, ${JSON.stringify(indexMessage(RAW))}::text::json) on conflict do nothing`;
  await sql`
    insert into blob_chunks (hash, seq, data) values (decode(${HASH}, 'hex'), 0, ${RAW}) on conflict do nothing`;
  const addresses: string[] = [];
  for (let from = 0; from < count; from += AT_A_TIME) {
    const rows = Array.from({ length: Math.min(AT_A_TIME, count - from) }, () => {
      const id = newId();
      return { id, shard: shardOf(id, SHARDS), address: `user-${id.replaceAll('-', '')}@${domain}`, email: newId() };
    });
    await sql.begin(async (tx) => {
      await tx`
        create temp table bench_account on commit drop as
        select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
          as x (id uuid, shard integer, address text, email uuid)`;
      await tx`
        insert into accounts (id, shard, email, display_name, modseq)
        select id, shard, address, 'Bench', 2 from bench_account order by id`;
      await tx`
        insert into addresses (id, address, account_id, domain, verified)
        select gen_random_uuid(), address, id, ${domain}, true from bench_account order by id`;
      await tx`
        insert into folders (account_id, id, role, name, sort_order, uidvalidity, uidnext, total, unread, highest_modseq)
        select a.id, gen_random_uuid(), f.role, f.name, f.position, 1, f.mail + 1, f.mail, f.mail, f.mail + 1
        from bench_account a, (values ('inbox', 'INBOX', 1, 1), ('sent', 'Sent', 2, 0), ('drafts', 'Drafts', 3, 0),
          ('archive', 'Archive', 4, 0), ('trash', 'Trash', 5, 0), ('junk', 'Junk', 6, 0)) as f (role, name, position, mail)
        order by a.id`;
      await tx`
        insert into emails (account_id, id, blob, message_id, thread_id, refs, from_address, from_name, subject, preview,
          received_at, size, has_attachments, attachment_count, flags, modseq)
        select id, email, decode(${HASH}, 'hex'), '<' || email || '@remote.test>', email, '{}', 'ann@remote.test', 'Ann',
          'First', 'The quick brown fox jumps.', now(), ${RAW.length}, false, 0, 0, 2
        from bench_account order by id`;
      await tx`
        insert into placements (account_id, folder_id, uid, email_id, modseq)
        select a.id, f.id, 1, a.email, 2 from bench_account a join folders f on f.account_id = a.id and f.role = 'inbox'
        order by a.id`;
      await tx`
        insert into thread_refs (account_id, message_key, thread_id) select id, gen_random_uuid(), email from bench_account
        order by id`;
      await tx`
        insert into events (account_id, seq, entries, at) select id, 2, '[]', now() from bench_account order by id`;
    });
    for (const { address } of rows) addresses.push(address);
  }
  await sql`analyze`;
  return addresses;
}
