// Defines what a contract runs on: stores of either kind, and a function that creates an account in them.
import type { ExecutionContext } from 'ava';
import type { BlobStore } from '../../../src/store/blobs.js';
import type { DeferredFlagRows } from '../../../src/store/flag-flushing.js';
import type { FolderBlobStore, FolderMessageStore } from '../../../src/store/folder-messages.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { postgresPreferences } from '../../../src/store/postgres/accounts/preferences.js';
import { postgresDeferredFlags } from '../../../src/store/postgres/commit/deferred-flags.js';
import type { DeferredFlags } from '../../../src/store/postgres/commit/mailbox-commit.js';
import { connect, type DatabaseAddress } from '../../../src/store/postgres/driver/client.js';
import { postgresBlobs } from '../../../src/store/postgres/mailbox/blobs.js';
import { postgresEvents } from '../../../src/store/postgres/mailbox/events.js';
import { postgresFolderMessages } from '../../../src/store/postgres/mailbox/folder-messages.js';
import { postgresInbound } from '../../../src/store/postgres/mailbox/inbound.js';
import { postgresMailboxes } from '../../../src/store/postgres/mailbox/mailboxes.js';
import { postgresSearch } from '../../../src/store/postgres/search/search.js';
import { FakeBlobs } from '../../gateways/http/fakes.js';
import { migratedDatabase } from '../../support/database/embedded-database.js';
import { memoryFolderMessages } from '../../support/memory-stores/folder-messages.js';
import { type MailboxStores, memoryStores } from '../../support/memory-stores/stores.js';
import { MemoryTables } from '../../support/memory-stores/tables.js';

export const SHARDS = 4;
export const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);

export interface Stores extends MailboxStores {
  readonly folderMessages: FolderMessageStore & FolderBlobStore;
  readonly blobs: BlobStore;
  /** Creates an account with the six system folders, and returns its id. */
  account(): Promise<string>;
}

/** Cases by title. */
export type Contract = Readonly<Record<string, (t: ExecutionContext, stores: Stores) => Promise<void>>>;

/** Without `room`, changes of many flags always make deferred writes; without `database`, a new database is created. */
export async function onPostgres(
  t: ExecutionContext,
  room?: DeferredFlags,
  database?: DatabaseAddress,
): Promise<Stores & { readonly deferredFlags: DeferredFlagRows }> {
  const address = database ?? (await migratedDatabase(t)).address;
  const sql = connect(address, { max: 2, applicationName: 'test' });
  const writerSql = connect(address, { max: 2, applicationName: 'test', byKey: true });
  t.teardown(() => Promise.all([sql.end(), writerSql.end()]));
  const directory = postgresDirectory(sql, SHARDS);
  let count = 0;
  return {
    mailboxes: postgresMailboxes(sql, writerSql, undefined, room),
    deferredFlags: postgresDeferredFlags(writerSql),
    events: postgresEvents(sql),
    inbound: postgresInbound(sql, writerSql),
    search: postgresSearch(writerSql),
    preferences: postgresPreferences(sql),
    folderMessages: postgresFolderMessages(writerSql),
    blobs: postgresBlobs(sql, writerSql),
    account: async () => (await directory.createAccount(`a${++count}@example.test`, 'A')).id,
  };
}

export async function inMemory(): Promise<Stores & { readonly tables: MemoryTables }> {
  const tables = new MemoryTables(SHARDS);
  const blobs = new FakeBlobs();
  const stores = memoryStores(tables, blobs);
  return {
    ...stores,
    blobs,
    folderMessages: memoryFolderMessages(tables, blobs),
    tables,
    account: async () => tables.addAccount().id,
  };
}
