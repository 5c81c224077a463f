// Accepted mail in the mailbox commit: the inbound rows that a commit deletes, and messages for several accounts that it stores
// (docs/decisions/0055), with an inbound row for each account whose mailbox does not place the message in this statement.

import { detailOf } from '../../inbound.js';
import type { SharedMessage } from '../../inline/shared-message.js';
import type { CommitResult, MailboxChange } from '../../mailboxes.js';
import { storeFault } from '../driver/client.js';
import type { Pieces, StatementPiece } from '../driver/statement-pieces.js';
import { type BlobOfAccounts, smallBlob } from '../mailbox/blob-writes.js';
import { json, PASSED, type Part, rowsWithDocuments } from './commit-parts.js';

/** Ids of the inbound rows that the commit of the change deletes. A shared message that an earlier commit stored has one too. */
export function endedInbound({ inbound, shared }: MailboxChange): readonly string[] {
  const stored = shared.filter(({ message }) => !message.isOpen);
  return stored.length === 0 ? inbound : [...inbound, ...stored.map(({ id }) => id)];
}

/** `isRepeated`: a condition on a row of `due`, which selects deliveries that have happened although their row is there. */
export const lookForInbound = (sql: Pieces, rows: readonly unknown[], isRepeated: StatementPiece) => sql`
    , due as materialized (
      select * from json_to_recordset(${json(rows)}::json) as x (a uuid, id uuid)
    ), consumed as materialized (
      select d.a, d.id from due d
      where not exists (select 1 from inbound i where i.account_id = d.a and i.id = d.id) ${isRepeated}
    )`;

/** A delivery that is remembered has happened: see `lookForInbound`. */
export const orRepeated = (sql: Pieces) => sql`or (d.a, d.id) in (select a, id from repeated)`;

export const hasAllInbound: Part = (sql) => sql`and not exists (select 1 from consumed c where c.a = t.id)`;

/** The rows of deliveries that have happened go even if the account writes nothing. */
export const endInbound = (sql: Pieces, isRepeated: StatementPiece) => sql`
    , inbound_done as (
      delete from inbound t using due d
      where t.account_id = d.a and t.id = d.id and (d.a = any (${sql.unsafe(PASSED)}) ${isRepeated})
    )`;

export const missingInbound: Part = (sql) => sql`union all select a, id, null from consumed`;

/** Messages for several accounts that a statement may store, with the accounts whose changes place them. */
export type SharedMessages = ReadonlyMap<SharedMessage, ReadonlySet<string>>;

export function sharedMessages(changes: readonly MailboxChange[]): SharedMessages {
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

export function sharedContents(shared: SharedMessages): readonly BlobOfAccounts[] {
  return [...shared].map(([{ content }, takers]) => ({ accountIds: [...takers], ...smallBlob(content) }));
}

const DELIVERY = 'n int, blob bytea, accounts uuid[], ids uuid[], placed boolean[], details json[], "isTried" boolean';

/**
 * Decides, before any account passes the fence, which messages are stored: all accounts of a message get it, or none.
 * - `fit` accounts pass the fence unless one of their messages is withheld; the statement waits for them, as for everything that
 * it changes, and locks them.
 * - `other` accounts of a message get an inbound row; the statement waits for none of them.
 * - A message is `withheld` when one of its accounts is neither: it is gone, or locked (for example while it is deleted), or the
 * deadline is over.
 * `isFit` is a condition on the account `t` and its fence `f`.
 */
export function weighShared(
  sql: Pieces,
  shared: SharedMessages,
  isFit: StatementPiece,
  until: StatementPiece,
): StatementPiece {
  const rows = [...shared].map(([{ content, envelope, deliveries }, takers], n) => ({
    n,
    blob: `\\x${content.hash}`,
    accounts: deliveries.map(({ accountId }) => accountId),
    ids: deliveries.map(({ id }) => id),
    placed: deliveries.map(({ accountId }) => takers.has(accountId)),
    details: deliveries.map((delivery) => detailOf(delivery) ?? null),
    isTried: deliveries.some(({ isTried }) => isTried === true),
    envelope,
  }));
  return sql`
    , delivery as materialized (
      select m.n, m.blob, m.unnest as envelope, m."isTried" as is_tried, d.a, d.id, d.is_placed, d.detail
      from ${rowsWithDocuments(sql, rows, 'envelope', sql.unsafe(DELIVERY))} as m
        cross join lateral unnest(m.accounts, m.ids, m.placed, m.details) as d (a, id, is_placed, detail)
    ), fit as materialized (
      select t.id from fence f join accounts t on t.id = f.a where ${isFit} ${until} for no key update of t
    ), other as materialized (
      select id from accounts where id in (select a from delivery where a <> all (array(select id from fit))) ${until}
      for key share skip locked
    ), withheld as materialized (
      select distinct n from delivery where a <> all (array(select id from fit union all select id from other))
    ), able as materialized (
      select array_agg(id) as ids from fit
      where id not in (select a from delivery where is_placed and n in (select n from withheld))
    ), stored as materialized (
      select blob, envelope, is_tried, a, id, is_placed, detail from delivery where n not in (select n from withheld)
    )`;
}

/** A further condition on the account `t` that passes the fence. */
export const isAble = (sql: Pieces) => sql`and t.id = any ((select ids from able)::uuid[])`;

/**
 * Adds inbound rows for the accounts whose mailboxes do not place a stored message. The node that has sent the message may have added those
 * of tried deliveries already.
 */
export const oweShared = (sql: Pieces) => sql`
    , owing as (
      insert into inbound (account_id, id, blob, envelope, is_tried, delivery)
      select a, id, blob, envelope::json, is_tried, detail from stored
      where not (is_placed and a = any (coalesce(${sql.unsafe(PASSED)}, '{}')))
      on conflict do nothing
    )`;

/** A condition on blobs `x`: the blob belongs to a shared message that is stored. */
export const isShared = (sql: Pieces) => sql`or exists (select from stored s where s.blob = decode(x.hash, 'hex'))`;

/** The answer: `rows`, and one row for each withheld message, by its number. */
export const withWithheld = (sql: Pieces, rows: StatementPiece) => sql`
    select r.*, null::int as withheld from (${rows}) r union all select null, null, null, n from withheld`;

/** Tells the messages of a statement their outcome; returns those that are withheld. */
export function endShared(shared: SharedMessages, numbers: readonly number[]): ReadonlySet<SharedMessage> {
  const messages = [...shared.keys()];
  const withheld = new Set(numbers.map((n) => messages[n]!));
  for (const message of messages) {
    if (withheld.has(message)) message.close();
    else message.stored();
  }
  return withheld;
}

export const WITHHELD: CommitResult = { kind: 'withheld' };

/** Commits changes, except those with a shared message that may no longer be stored. */
export async function commitShared(
  changes: readonly MailboxChange[],
  write: (changes: readonly MailboxChange[]) => Promise<readonly CommitResult[]>,
): Promise<readonly CommitResult[]> {
  if (changes.every(({ shared }) => shared.length === 0)) return write(changes);
  const isWithheld = ({ shared }: MailboxChange) => shared.some(({ message }) => message.isClosed);
  const written = changes.filter((change) => !isWithheld(change));
  if (written.length === 0) return changes.map(() => WITHHELD);
  const messages = [...sharedMessages(written).keys()];
  const results = await write(written).catch((error: unknown) => {
    if (storeFault(error).isUndecided) for (const message of messages) message.lost();
    throw error;
  });
  const byChange = new Map(written.map((change, i) => [change, results[i]!]));
  return changes.map((change) => byChange.get(change) ?? WITHHELD);
}
