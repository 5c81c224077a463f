// Accepted mail in the mailbox commit: the inbound rows that a commit ends, and messages for several accounts that it stores
// (docs/decisions/0055), with an inbound row for each account whose mailbox does not place the message by this statement.
import type { CommitResult, MailboxChange } from '../mailboxes.js';
import type { SharedMessage } from '../shared-message.js';
import { type BlobOfAccounts, smallBlob } from './blob-writes.js';
import { storeFault } from './client.js';
import { json, PASSED, type Part, rowsWithDocuments } from './commit-parts.js';
import type { Pieces, StatementPiece } from './statement-pieces.js';

/** Ids of the inbound rows that the commit of the change ends. Of a shared message that an earlier commit stored there is one. */
export function endedInbound({ inbound, shared }: MailboxChange): readonly string[] {
  const stored = shared.filter(({ message }) => !message.isOpen);
  return stored.length === 0 ? inbound : [...inbound, ...stored.map(({ id }) => id)];
}

export const lookForInbound: Part = (sql, rows) => sql`
    , due as materialized (
      select * from json_to_recordset(${json(rows)}::json) as x (a uuid, id uuid)
    ), consumed as materialized (
      select d.a, d.id from due d
      where not exists (select 1 from inbound i where i.account_id = d.a and i.id = d.id)
    )`;

export const hasAllInbound: Part = (sql) => sql`and not exists (select 1 from consumed c where c.a = t.id)`;

export const endInbound: Part = (sql) => sql`
    , inbound_done as (
      delete from inbound t using due d
      where t.account_id = d.a and t.id = d.id and d.a = any (${sql.unsafe(PASSED)})
    )`;

export const missingInbound: Part = (sql) => sql`union all select a, id, null from consumed`;

/** Messages that the statement stores, with the accounts whose changes place them. */
export function sharedMessages(changes: readonly MailboxChange[]): ReadonlyMap<SharedMessage, ReadonlySet<string>> {
  const takers = new Map<SharedMessage, Set<string>>();
  for (const { accountId, shared } of changes) {
    for (const { message } of shared) {
      if (!message.isOpen) continue;
      const known = takers.get(message);
      if (known === undefined) takers.set(message, new Set([accountId]));
      else known.add(accountId);
    }
  }
  return takers;
}

export function sharedContents(shared: ReturnType<typeof sharedMessages>): readonly BlobOfAccounts[] {
  return [...shared].map(([{ content }, takers]) => ({ accountIds: [...takers], ...smallBlob(content) }));
}

/** Whether the changes place every message in every mailbox: if all of them pass the fence, no account needs an inbound row. */
export function arePlaced(shared: ReturnType<typeof sharedMessages>): boolean {
  return [...shared].every(([{ deliveries }, takers]) => takers.size === deliveries.length);
}

/** Refuses the statement, by a division by zero, unless all accounts of the messages pass the fence. Of `passed`. */
export function unlessAllPass(sql: Pieces, shared: ReturnType<typeof sharedMessages>): StatementPiece {
  const accounts = new Set<string>();
  for (const takers of shared.values()) for (const account of takers) accounts.add(account);
  const ids = `{${[...accounts].join()}}`;
  return sql`having 1 / (count(*) filter (where a = any (${ids}::uuid[])) = ${accounts.size}::int)::int = 1`;
}

/** Of the database: `unlessAllPass` has refused a statement, of which nothing is written. */
export function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === DIVISION_BY_ZERO;
}

const DIVISION_BY_ZERO = '22012';

const PASSED_OR_NONE = `coalesce(${PASSED}, '{}')`;

/**
 * `waiting`: the inbound rows of accounts whose mailboxes do not place a message, or do not pass the fence. For an account that is gone or
 * locked, as while it is deleted, and after the deadline, the statement is refused at once: all accounts of a message have it, or none.
 */
export function oweShared(sql: Pieces, shared: ReturnType<typeof sharedMessages>, until: StatementPiece) {
  const rows = [...shared].map(([{ content, envelope, deliveries }, takers]) => ({
    blob: `\\x${content.hash}`,
    accounts: deliveries.map(({ accountId }) => accountId),
    ids: deliveries.map(({ id }) => id),
    placed: deliveries.map(({ accountId }) => takers.has(accountId)),
    envelope,
  }));
  const columns = sql`blob bytea, accounts uuid[], ids uuid[], placed boolean[]`;
  return sql`
    , waiting as materialized (
      select m.blob, m.unnest as envelope, d.a, d.id
      from ${rowsWithDocuments(sql, rows, 'envelope', columns)} as m
        cross join lateral unnest(m.accounts, m.ids, m.placed) as d (a, id, is_placed)
      where not (d.is_placed and d.a = any (${sql.unsafe(PASSED_OR_NONE)}))
    ), owner as materialized (
      -- Accounts that this statement has updated cannot be locked by it once more: it holds them by that update.
      select id from accounts where id in (select a from waiting) and id <> all (${sql.unsafe(PASSED_OR_NONE)})
        ${until}
      for key share of accounts skip locked
    ), owing as (
      insert into inbound (account_id, id, blob, envelope)
      select case when a in (select id from owner) or a = any (${sql.unsafe(PASSED_OR_NONE)}) then a end, id, blob, envelope::json
      from waiting
    )`;
}

/** Of blobs `x`: an inbound row refers to it. */
export const isOwed = (sql: Pieces) => sql`or exists (select from waiting w where w.blob = decode(x.hash, 'hex'))`;

const WITHHELD: CommitResult = { kind: 'withheld' };

/**
 * Commits changes, and tells shared messages what has become of them. A change that alone is refused with its messages is withheld, for
 * what is refused may be the part of another account.
 */
export async function commitShared(
  changes: readonly MailboxChange[],
  write: (changes: readonly MailboxChange[]) => Promise<readonly CommitResult[]>,
): Promise<readonly CommitResult[]> {
  if (changes.every(({ shared }) => shared.length === 0)) return write(changes);
  const isWithheld = ({ shared }: MailboxChange) => shared.some(({ message }) => message.isClosed);
  const written = changes.filter((change) => !isWithheld(change));
  const messages = [...sharedMessages(written).keys()];
  let results: readonly CommitResult[] = [];
  try {
    if (written.length > 0) results = await write(written);
  } catch (error) {
    const { isUndecided } = storeFault(error);
    if (isUndecided) for (const message of messages) message.lost();
    if (isUndecided || messages.length === 0 || changes.length > 1) throw error;
    for (const message of messages) message.close();
    return [WITHHELD];
  }
  for (const message of messages) message.stored();
  for (const [i, { shared }] of written.entries()) {
    if (results[i]!.kind === 'committed') for (const { message } of shared) message.stored();
  }
  let next = 0;
  return changes.map((change) => (isWithheld(change) ? WITHHELD : results[next++]!));
}
