// Returns everything that a store holds of a mailbox, in a form in which two stores can be compared.
import { uuidText } from '../../../src/mail-format/ids.js';
import type { ListCriteria } from '../../../src/store/mailboxes.js';
import type { OutboundStatus } from '../../../src/store/outbound.js';
import type { Choices } from '../../../src/store/preferences.js';
import type { Stores } from './stores.js';

export const INBOX_LIST: ListCriteria = { order: 'date', isDescending: true, mask: 0, flags: 0, page: 1, pageSize: 10 };

export async function emailsOf({ mailboxes }: Pick<Stores, 'mailboxes'>, accountId: string) {
  const rows = [];
  for await (const page of mailboxes.emails(accountId)) {
    for (let i = 0; i < page.count; i++) {
      rows.push({
        id: uuidText(page.ids, i * 16),
        flags: page.flags[i],
        receivedAt: page.receivedAt[i],
        size: page.sizes[i],
        modseq: page.modseqs[i],
        hasAttachments: page.hasAttachments[i] === 1,
      });
    }
  }
  return rows;
}

/** Returns UID, email, modseq and whether it is `\Deleted`, by folder. */
export async function placementsOf({ mailboxes }: Pick<Stores, 'mailboxes'>, accountId: string) {
  const rows: Record<string, [number, string, number, boolean][]> = {};
  for await (const page of mailboxes.placements(accountId)) {
    rows[page.folderId] ??= [];
    for (let i = 0; i < page.count; i++) {
      const id = uuidText(page.emailIds, i * 16);
      rows[page.folderId]!.push([page.uids[i]!, id, page.modseqs[i]!, page.isDeleted[i] === 1]);
    }
  }
  return rows;
}

/** Returns UIDs and modseqs by folder, and the modseq from which on all expunges are known. */
export async function expungedOf({ mailboxes }: Pick<Stores, 'mailboxes'>, accountId: string) {
  const { floor, folders } = (await mailboxes.overview(accountId)).expunged;
  return {
    floor,
    folders: Object.fromEntries(
      folders.map(({ folderId, uids, modseqs }) => [folderId, [...uids].map((uid, i) => [uid, modseqs[i]])]),
    ),
  };
}

export async function keywordsOf({ mailboxes }: Pick<Stores, 'mailboxes'>, accountId: string) {
  return (await mailboxes.keywords(accountId)).map(({ names, emailIds }) => ({
    names,
    ids: Array.from({ length: emailIds.length / 16 }, (_, i) => uuidText(emailIds, i * 16)),
  }));
}

const byId = <T extends { readonly id: string }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Rows without a promised order. */
const byText = <T>(rows: Iterable<T>): T[] =>
  [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const ORDERS: readonly ListCriteria['order'][] = ['date', 'from', 'subject', 'size'];
const STATUSES: readonly OutboundStatus[] = ['Draft', 'Queued', 'Sent'];

/** Returns undefined when nothing was chosen: the time is then the account's own. */
function chosenIn(choices: Choices | undefined) {
  const hasChosen = Object.keys(choices?.chosen ?? {}).length > 0;
  return hasChosen ? choices : undefined;
}

export async function contentsOf(stores: Stores, accountId: string) {
  const { mailboxes, events, preferences } = stores;
  const overview = await mailboxes.overview(accountId);
  const emails = await emailsOf(stores, accountId);
  const ids = emails.map(({ id }) => id);
  const summaries = byId(await mailboxes.summaries(accountId, ids));
  const lists = [];
  for (const { id } of overview.folders) {
    for (const [i, order] of ORDERS.entries()) {
      const criteria = { order, isDescending: i % 2 === 0, mask: i % 3, flags: i % 2, page: 1, pageSize: 3 };
      const filtered = { ...criteria, fromAddress: i > 1 ? 'BO' : undefined };
      lists.push(await mailboxes.listed(accountId, id, filtered));
    }
    lists.push(await mailboxes.senders(accountId, id));
  }
  const threads = [];
  for (const threadId of new Set(summaries.map((row) => row.threadId)))
    threads.push(await mailboxes.thread(accountId, threadId, { newest: 3 }));
  for (const threadId of ids) threads.push(await mailboxes.thread(accountId, threadId, { page: 1, pageSize: 2 }));
  const outbound = [...(await mailboxes.outboundPage(accountId, STATUSES, [], 1, 100))];
  const parts = [];
  for (const { id } of outbound)
    parts.push(await mailboxes.outboundContent(accountId, id), await mailboxes.outboundAttempts(accountId, id));
  return {
    folders: overview.folders,
    filters: byId(overview.filters),
    annotations: byText(overview.annotations),
    scripts: byText(overview.sieveScripts),
    activeScript: overview.activeSieveScript,
    sieveKeys: byText(overview.sieveKeys),
    senders: overview.senders,
    deferred: overview.filtersAwaitingBody.toSorted((a, b) => (a.emailId < b.emailId ? -1 : 1)),
    remembered: byId(overview.remembered),
    expunged: await expungedOf(stores, accountId),
    emails,
    placements: await placementsOf(stores, accountId),
    keywords: await keywordsOf(stores, accountId),
    summaries,
    exportRows: byId(await mailboxes.exportRows(accountId, ids)),
    lists,
    threads,
    copies: await mailboxes.submittedCopies(
      accountId,
      summaries.flatMap(({ messageId }) => messageId ?? []),
    ),
    appended: byText(await mailboxes.appendedMessageIds(accountId, ids)),
    outbound,
    counts: await mailboxes.outboundCounts(accountId, STATUSES),
    sentCopies: byText(await mailboxes.outboundOfCopies(accountId, ids)),
    blind: byText(await mailboxes.blindRecipients(accountId, ids)),
    parts,
    preferences: chosenIn(await preferences.choices(accountId)),
    events: await events.read(accountId, 0, 1_000),
  };
}
