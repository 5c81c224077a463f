// An account's own row and what every account has from the start: the six system folders. Who may have which address
// is decided by the callers.
import { randomUUID } from 'node:crypto';
import type { Account } from '../directory.js';
import type { FolderRole } from '../mailboxes.js';
import { shardOf } from '../shard.js';
import type { Sql, Transaction } from './client.js';

const SYSTEM_FOLDERS: readonly { readonly role: FolderRole; readonly name: string }[] = [
  { role: 'inbox', name: 'INBOX' },
  { role: 'sent', name: 'Sent' },
  { role: 'drafts', name: 'Drafts' },
  { role: 'archive', name: 'Archive' },
  { role: 'trash', name: 'Trash' },
  { role: 'junk', name: 'Junk' },
];

export const accountColumns = (sql: Sql | Transaction) => sql`
  id, email, display_name as "displayName", held, created_at as "createdAt"`;

export async function insertAccount(
  tx: Transaction,
  row: { email: string; displayName: string; held: boolean },
  shards: number,
): Promise<Account> {
  const id = randomUUID();
  const [account] = await tx<[Account]>`
    insert into accounts (id, shard, email, display_name, held)
    values (${id}, ${shardOf(id, shards)}, ${row.email}, ${row.displayName}, ${row.held})
    returning ${accountColumns(tx)}`;
  await insertFolders(tx, id);
  return account;
}

/** UIDVALIDITY is the time in seconds (RFC 9051 §2.3.1.1): an account deleted and made again gets another one. */
async function insertFolders(tx: Transaction, accountId: string): Promise<void> {
  const ids = SYSTEM_FOLDERS.map(() => randomUUID());
  const roles = SYSTEM_FOLDERS.map((folder) => folder.role);
  const names = SYSTEM_FOLDERS.map((folder) => folder.name);
  await tx`
    insert into folders (account_id, id, role, name, sort_order, uidvalidity)
    select ${accountId}, folder.id, folder.role, folder.name, folder.position, extract(epoch from now())::bigint
    from unnest(${tx.array(ids)}::uuid[], ${tx.array(roles)}::text[], ${tx.array(names)}::text[])
      with ordinality as folder (id, role, name, position)`;
}
