// The rows of an account: created with the six system folders that every account has, and deleted with everything that belongs to
// it. The callers decide who may have which address.

import type { Account } from '../../directory.js';
import { newId } from '../../ids/new-id.js';
import type { FolderRole } from '../../mailboxes.js';
import { shardOf } from '../../shard.js';
import type { Sql, SqlTransaction } from '../driver/client.js';
import { announce } from './directory-changes.js';

/** The system folders in their sort order. */
export const SYSTEM_FOLDERS: readonly { readonly role: FolderRole; readonly name: string }[] = [
  { role: 'inbox', name: 'INBOX' },
  { role: 'sent', name: 'Sent' },
  { role: 'drafts', name: 'Drafts' },
  { role: 'archive', name: 'Archive' },
  { role: 'trash', name: 'Trash' },
  { role: 'junk', name: 'Junk' },
];

/** Tables whose rows belong to one account and contain its id. They are deleted with the account. */
export const ACCOUNT_TABLES = [
  'placements',
  'expunged',
  'emails',
  'folders',
  'annotations',
  'events',
  'deferred_flag_writes',
  'inbound',
  'import_positions',
  'recent_commands',
  'thread_refs',
  'search_state',
  'search_segments',
  'search_pages',
  'filters',
  'deferred_filters',
  'filter_runs',
  'filter_run_batches',
  'sieve_scripts',
  'active_sieve_scripts',
  'sieve_tracked_keys',
  'due_automatic_mail',
  'preferences',
  'push_subscriptions',
  'webhooks',
  'webhook_deliveries',
  'outbound',
  'outbound_recipients',
  'outbound_contents',
  'outbound_attempts',
  'outbound_requests',
  'suppressions',
  'sent_counts',
  'known_recipients',
  'vacation_answered',
  'due_junk_lessons',
  'junk_lessons',
  'junk_words',
] as const;

export const accountColumns = (sql: Sql | SqlTransaction) => sql`
  id, email, display_name as "displayName", unclaimed as "isUnclaimed", created_at as "createdAt"`;

export async function insertAccount(
  tx: SqlTransaction,
  row: { email: string; displayName: string; isUnclaimed: boolean },
  shards: number,
): Promise<Account> {
  const id = newId();
  const [account] = await tx<[Account]>`
    insert into accounts (id, shard, email, display_name, unclaimed)
    values (${id}, ${shardOf(id, shards)}, ${row.email}, ${row.displayName}, ${row.isUnclaimed})
    returning ${accountColumns(tx)}`;
  await insertFolders(tx, id);
  return account;
}

/** UIDVALIDITY is the time in seconds (RFC 9051 §2.3.1.1): an account that is deleted and created again gets another one. */
async function insertFolders(tx: SqlTransaction, accountId: string): Promise<void> {
  const ids = SYSTEM_FOLDERS.map(() => newId());
  const roles = SYSTEM_FOLDERS.map((folder) => folder.role);
  const names = SYSTEM_FOLDERS.map((folder) => folder.name);
  await tx`
    insert into folders (account_id, id, role, name, sort_order, uidvalidity)
    select ${accountId}, folder.id, folder.role, folder.name, folder.position, extract(epoch from now())::bigint
    from unnest(${tx.array(ids)}::uuid[], ${tx.array(roles)}::text[], ${tx.array(names)}::text[])
      with ordinality as folder (id, role, name, position)`;
}

/** Locks the account's row first: afterwards its mailbox can commit nothing, and everything committed before is visible. */
export async function deleteAccountRows(tx: SqlTransaction, id: string): Promise<boolean> {
  const [account] = await tx<{ id: string }[]>`select id from accounts where id = ${id} for update`;
  if (account === undefined) return false;
  await registerBlobs(tx, account.id);
  for (const table of ACCOUNT_TABLES) await tx`delete from ${tx(table)} where account_id = ${account.id}`;
  await tx`delete from accounts where id = ${account.id}`;
  await tx`insert into deleted_accounts (id) values (${account.id})`;
  await announce(tx, { kind: 'account-deleted', accountId: account.id });
  return true;
}

async function registerBlobs(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx`
    insert into blob_candidates (hash)
    select blob from emails where account_id = ${accountId}
    union select blob from inbound where account_id = ${accountId}
    union select blob from outbound where account_id = ${accountId}
    union select blob from due_automatic_mail where account_id = ${accountId}`;
}
