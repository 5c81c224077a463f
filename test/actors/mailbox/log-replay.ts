// Replays the log of an account into the state and the tables of a fresh account, and writes both accounts down so that they can
// be compared.
import { randomUUID } from 'node:crypto';
import { loadMailbox, type MailboxState } from '../../../src/actors/mailbox/state/state.js';
import { MailboxTransaction } from '../../../src/actors/mailbox/state/transaction.js';
import type { Change } from '../../../src/store/changes/changes.js';
import type { MailboxChange } from '../../../src/store/mailboxes.js';
import type { MailboxWorld } from './mailbox-world.js';

/** This is above the epochs that owners of a test reach. */
const EPOCH = 1_000_000;

export const CONTEXT = {
  now: 0,
  epoch: EPOCH,
  random: (octets: number) => Buffer.alloc(octets),
  retry: { maxRetries: 2, baseMs: 60_000, capMs: 600_000 },
  inlineMessages: { find: () => undefined, decline() {} },
};

/** Creates and loads a new account. */
export async function freshAccount(world: MailboxWorld) {
  const { id } = await world.directory.createAccount(`${randomUUID()}@example.test`, 'Fresh');
  const loaded = await loadMailbox(world.store, id, EPOCH);
  if (loaded.kind !== 'loaded') throw new Error(loaded.kind);
  return { id, state: loaded.state };
}

/** Returns the roles of the system folders, by id: accounts share only the roles. */
async function rolesOf(world: MailboxWorld, accountId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await world.sql<{ id: string; role: string }[]>`
    select id, role from folders where account_id = ${accountId} and role not in ('label', 'folder')`;
  return new Map(rows.map(({ id, role }) => [id, role]));
}

/** Reads the log page by page: a page ends when it is large. */
export async function recordsOf(world: MailboxWorld, accountId: string) {
  const records: Awaited<ReturnType<MailboxWorld['events']['read']>>[number][] = [];
  for (;;) {
    const page = await world.events.read(accountId, records.at(-1)?.seq ?? 0, 1_000_000);
    if (page.length === 0) return records;
    records.push(...page);
  }
}

/** Returns all records of the log, as those of the account `to`. Local deliveries go to unknown accounts. */
export async function logOf(world: MailboxWorld, from: string, to: string): Promise<Change[]> {
  const records = await recordsOf(world, from);
  let text = JSON.stringify(records);
  const others = new Map([...(await rolesOf(world, to))].map(([id, role]) => [role, id]));
  for (const [id, role] of await rolesOf(world, from)) text = text.replaceAll(id, others.get(role)!);
  const changes = JSON.parse(text) as Change[];
  return changes.map((change) =>
    change.type === 'DeliveredLocally'
      ? { ...change, payload: { ...change.payload, accountId: randomUUID() } }
      : change,
  );
}

/** Returns the change that these records make in the state. */
export function replayed(state: MailboxState, changes: readonly Change[]): MailboxChange | undefined {
  const tx = new MailboxTransaction(state, CONTEXT);
  tx.replay(changes);
  return tx.change([]);
}

/** Splits the records after these modseqs, as they were committed. */
export function cutAfter(changes: readonly Change[], modseqs: readonly number[]): Change[][] {
  let from = 0;
  return modseqs.map((modseq) => {
    const next = changes.findIndex(({ seq }, i) => i >= from && seq > modseq);
    const part = changes.slice(from, next < 0 ? undefined : next);
    from += part.length;
    return part;
  });
}

/** Replays groups of records, one commit per group, into the account's state and tables. */
export async function replayInto(
  world: MailboxWorld,
  { state }: { readonly state: MailboxState },
  groups: readonly (readonly Change[])[],
): Promise<void> {
  for (const group of groups) {
    const change = replayed(state, group);
    if (change === undefined) continue;
    const { kind } = await world.store.commit(change);
    if (kind !== 'committed') throw new Error(`the replay was ${kind}`);
    state.evolve(change);
  }
}

const SYSTEM = ['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk'];

/** Returns what the state knows of the mailbox, with system folders under their roles. */
export function snapshotOf(state: MailboxState) {
  const { emails } = state;
  const slots = Array.from({ length: emails.size }, (_, slot) => slot).filter((slot) => emails.isAlive(slot));
  const folders = [...state.folders.values()].map((folder) => {
    const { id, uidValidity, createdAt, ...row } = folder.row;
    const isSystem = SYSTEM.includes(row.role);
    const placed = [...folder.slots()].map((slot) => ({
      id: emails.id(slot),
      uid: folder.uidOf(slot),
      isDeleted: folder.isDeleted(slot),
      modseq: folder.modseqOf(slot),
    }));
    const annotations = state.annotations.of(id);
    return { row: isSystem ? row : { ...row, id, uidValidity, createdAt }, placed, annotations };
  });
  return {
    modseq: state.modseq,
    emails: slots.map((slot) => ({
      id: emails.id(slot),
      flags: emails.flags(slot),
      keywords: emails.keywords(slot),
      modseq: emails.modseq(slot),
      size: emails.sizeOf(slot),
      receivedAt: emails.receivedAt(slot),
      hasAttachments: emails.hasAttachments(slot),
    })),
    folders: folders.sort((a, b) => (a.row.name < b.row.name ? -1 : 1)),
    annotations: state.annotations.of(null),
    filters: state.filters,
    sieve: state.sieve.list().map((script) => ({ ...script, content: state.sieve.content(script.name) })),
    deferred: [...state.awaitingBody.values()]
      .map(({ emailId, filterIds, placed }) => {
        const named = (id: string) => {
          const role = state.folders.get(id)?.row.role ?? '';
          return SYSTEM.includes(role) ? role : id;
        };
        const places = placed.map(({ folderId, uid }) => `${named(folderId)} ${uid}`);
        return [emailId, filterIds, places];
      })
      .sort(),
    suppressions: state.outbound.suppressions.values().sort((a, b) => (a.address < b.address ? -1 : 1)),
    due: state.dueMail.values(),
    vacation: state.vacation,
    sieveKeys: state.sieveKeys.entries().sort(([a], [b]) => (a < b ? -1 : 1)),
    answered: state.answered.entries().sort(([a], [b]) => (a < b ? -1 : 1)),
    drafts: [...state.outbound.drafts].map(({ id, emailId }) => `${id} ${emailId}`).sort(),
  };
}

const TABLES = [
  'emails',
  'placements',
  'expunged',
  'folders',
  'annotations',
  'filters',
  'deferred_filters',
  'filter_runs',
  'filter_run_batches',
  'sieve_scripts',
  'active_sieve_scripts',
  'sieve_tracked_keys',
  'due_automatic_mail',
  'suppressions',
  'vacation_answered',
  'thread_refs',
  'outbound',
  'outbound_recipients',
  'outbound_attempts',
  'preferences',
] as const;

/** Columns that differ: the account's own, times that are not in the log, and values that are only stored. */
const NOT_COMPARED = ['account_id', 'shard', 'machine', 'at'];

/** Returns the account's rows of every table, with system folders under their roles, and one row for each expunged UID. */
export async function tablesOf(world: MailboxWorld, accountId: string): Promise<Record<string, string[]>> {
  const roles = await rolesOf(world, accountId);
  const tables: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows =
      table === 'expunged'
        ? await world.sql`
            select x.folder_id, x.modseq, u.uid from expunged x, generate_series(x.uid, coalesce(x.last_uid, x.uid)) as u (uid)
            where x.account_id = ${accountId}`
        : await world.sql`select * from ${world.sql(table)} where account_id = ${accountId}`;
    tables[table] = rows.map((row) => textOf(table, row, roles)).sort();
  }
  return tables;
}

function textOf(table: string, row: Record<string, unknown>, roles: ReadonlyMap<string, string>): string {
  const kept: Record<string, unknown> = {};
  const isSystem = table === 'folders' && SYSTEM.includes(String(row['role']));
  for (const [name, value] of Object.entries(row)) {
    if (NOT_COMPARED.includes(name) && !(table === 'outbound_attempts' && name === 'at')) continue;
    if (isSystem && (name === 'created_at' || name === 'uidvalidity')) continue;
    kept[name] = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  }
  let text = JSON.stringify(kept);
  for (const [id, role] of roles) text = text.replaceAll(id, role);
  return text;
}
