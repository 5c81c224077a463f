// The rows of mailboxes in memory.

import { uuidOctets } from '../../../src/mail-format/ids.js';
import type { IndexedAddress } from '../../../src/mail-format/message-index.js';
import type { SenderLists } from '../../../src/mail-format/senders.js';
import type { BlobStore } from '../../../src/store/blobs.js';
import type { EmailRow } from '../../../src/store/mailbox-rows.js';
import type {
  EmailSummaryRow,
  Expunged,
  ListCriteria,
  ListedEmails,
  MailboxStore,
  PlacementPage,
  ThreadPart,
} from '../../../src/store/mailboxes.js';
import type { Forwarding } from '../../../src/store/preferences.js';
import type { Vacation } from '../../../src/store/vacation.js';
import { commitChange, oweShared } from './commit.js';
import { outboundReading } from './outbound.js';
import { type AccountRows, compare, type MemoryTables } from './tables.js';

const REMEMBERED_MS = 60_000;

export function memoryMailboxes(tables: MemoryTables, blobs: Pick<BlobStore, 'put' | 'index'>): MailboxStore {
  const of = (accountId: string) => tables.of(accountId);
  return {
    ...outboundReading(tables),
    async recipientsOf(accountId, emailIds, most, fields = ['to']) {
      const found = new Map<string, readonly IndexedAddress[]>();
      for (const id of emailIds) {
        const email = of(accountId).emails.get(id);
        const index = email && (await blobs.index(email.blob));
        const named = fields.flatMap((field) => index?.envelope[field] ?? []);
        if (index) found.set(id, named.filter(({ address }) => address !== '').slice(0, most));
      }
      return found;
    },
    async claim(accountId, epoch) {
      const account = tables.accounts.get(accountId);
      if (account === undefined) return { kind: 'noSuchAccount' };
      if (account.epoch > epoch) return { kind: 'fenced' };
      account.epoch = epoch;
      const { modseq, email, isUnclaimed } = account;
      return { kind: 'claimed', modseq, email, isUnclaimed };
    },
    async isNewest(accountId, epoch, modseq) {
      const account = tables.accounts.get(accountId);
      return account?.epoch === epoch && account.modseq === modseq;
    },
    beforeCommit: async () => {},
    async commit(change) {
      for (const { message } of change.shared) {
        const isGone = message.deliveries.some((delivery) => !tables.accounts.has(delivery.accountId));
        if (message.isOpen && isGone) message.close();
      }
      if (change.shared.some(({ message }) => message.isClosed)) return { kind: 'withheld' };
      const stored = change.shared.flatMap(({ message, id }) => (message.isOpen ? [] : [id]));
      const result = commitChange(tables, { ...change, inbound: [...change.inbound, ...stored] });
      const isCommitted = result.kind === 'committed';
      const added = change.shared.filter(({ message }) => message.isOpen).map(({ message }) => message);
      for (const message of added) oweShared(tables, message, isCommitted ? change.accountId : undefined);
      for (const message of isCommitted ? change.shared.map((each) => each.message) : added) message.stored();
      for (const { content } of added) await blobs.put(content);
      if (isCommitted) for (const content of change.contents) await blobs.put(content);
      return result;
    },
    async overview(accountId) {
      const rows = of(accountId);
      const { folders, filters, deferred, filterRuns, dueMail, remembered, outbound, ...rest } = rows;
      const { suppressions, annotations, preferences, ...account } = rest;
      const since = Date.now() - REMEMBERED_MS;
      return {
        folders: [...folders.values()].sort((a, b) => a.sortOrder - b.sortOrder || compare(a.id, b.id)),
        filters: [...filters.values()],
        filtersAwaitingBody: [...deferred.values()],
        filterRuns: [...filterRuns.values()].sort((a, b) => compare(a.id, b.id)),
        sieveKeys: [...rows.sieveKeys].map(([key, until]) => ({ key, until })),
        sieveScripts: [...rows.sieveScripts.values()].sort((a, b) => compare(a.name, b.name)),
        activeSieveScript: rows.activeSieveScript,
        dueMail: [...dueMail.values()].sort((a, b) => compare(a.id, b.id)),
        drafts: [...outbound.values()].flatMap(({ row: { id, emailId, status } }) =>
          status === 'Draft' ? [{ id, emailId }] : [],
        ),
        suppressions: [...suppressions.values()].sort((a, b) => a.since - b.since || compare(a.address, b.address)),
        annotations: [...annotations].sort(([a], [b]) => compare(a, b)).map(([, row]) => row),
        senders: (preferences?.chosen['senders'] as SenderLists | undefined) ?? null,
        vacation: (preferences?.chosen['vacation'] as Vacation | undefined) ?? null,
        answered: [...rows.vacationAnswered].map(([key, until]) => ({ key, until })),
        forwarding: (preferences?.chosen['forwarding'] as Forwarding | undefined) ?? null,
        remembered: remembered.filter(({ at }) => at > since).map(({ id, reply }) => ({ id, reply })),
        expunged: expungedOf(account),
      };
    },
    async sentMinutes(accountId, since) {
      const minutes = [...of(accountId).sentMinutes.values()].filter(({ minute }) => minute >= since);
      return minutes.sort((a, b) => a.minute - b.minute);
    },
    async hasWrittenTo(accountId, address) {
      return of(accountId).knownRecipients.has(address);
    },
    async strangers(accountId, addresses) {
      return addresses.filter((address) => !of(accountId).knownRecipients.has(address));
    },
    async filterRunBatch(accountId, runId, number) {
      return of(accountId).filterRunBatches.get(`${runId} ${number}`)?.emails;
    },
    async *emails(accountId) {
      const rows = sortedById(of(accountId).emails.values());
      if (rows.length === 0) return;
      yield {
        count: rows.length,
        ids: packed(rows.map(({ id }) => id)),
        flags: Uint16Array.from(rows, ({ flags }) => flags),
        receivedAt: Float64Array.from(rows, ({ receivedAt }) => receivedAt),
        sizes: Float64Array.from(rows, ({ size }) => size),
        modseqs: Float64Array.from(rows, ({ modseq }) => modseq),
        hasAttachments: Uint8Array.from(rows, ({ hasAttachments }) => Number(hasAttachments)),
      };
    },
    async *placements(accountId) {
      const { placements } = of(accountId);
      for (const folderId of [...placements.keys()].sort()) {
        const page = placementPage(folderId, placements.get(folderId)!);
        if (page.count > 0) yield page;
      }
    },
    async keywords(accountId) {
      const sets = new Map<string, { names: readonly string[]; ids: string[] }>();
      for (const { id, keywords } of sortedById(of(accountId).emails.values())) {
        if (keywords.length === 0) continue;
        const key = JSON.stringify(keywords);
        const known = sets.get(key);
        if (known === undefined) sets.set(key, { names: keywords, ids: [id] });
        else known.ids.push(id);
      }
      return [...sets.values()].map(({ names, ids }) => ({ names, emailIds: packed(ids) }));
    },
    async summaries(accountId, ids) {
      const { emails } = of(accountId);
      return [...new Set(ids)].flatMap((id) => emails.get(id) ?? []).map(summaryOf);
    },
    async placedWithEmail(accountId, asked) {
      const { placements } = of(accountId);
      const byPlace = new Map(asked.map((place) => [`${place.folderId} ${place.uid}`, place]));
      return [...byPlace.values()].filter(({ folderId, uid }) => {
        const placement = placements.get(folderId)?.get(uid);
        return placement !== undefined && placement.savedAt === undefined;
      });
    },
    async exportRows(accountId, ids) {
      const { emails } = of(accountId);
      return [...new Set(ids)]
        .flatMap((id) => emails.get(id) ?? [])
        .map(({ id, blob, fromAddress, receivedAt, size }) => ({ id, blob, fromAddress, receivedAt, size }));
    },
    async thread(accountId, threadId, part) {
      const { emails, threads } = of(accountId);
      const wanted = threads.get(threadId) ?? threadId;
      const rows = [...emails.values()].filter((email) => email.threadId === wanted).sort(byTime);
      return { rows: partOf(rows, part).map(summaryOf), total: rows.length };
    },
    async *threads(accountId) {
      const rows = sortedById(of(accountId).emails.values()).filter(({ id, threadId }) => id !== threadId);
      yield { emailIds: packed(rows.map(({ id }) => id)), threadIds: packed(rows.map(({ threadId }) => threadId)) };
    },
    settleThreads: () => Promise.resolve(true),
    async threadsOf(accountId, emailIds) {
      const { emails } = of(accountId);
      const wanted = new Set(emailIds.map((id) => emails.get(id)?.threadId));
      const rows = sortedById([...emails.values()].filter(({ threadId }) => wanted.has(threadId)));
      return { emailIds: packed(rows.map(({ id }) => id)), threadIds: packed(rows.map(({ threadId }) => threadId)) };
    },
    listed: async (accountId, folderId, criteria) => listed(of(accountId).emailsOf(folderId), criteria),
    async submittedCopies(accountId, messageIds) {
      const { emails, outbound } = of(accountId);
      const copyOf = (emailId: string) =>
        [...outbound.values()].find(({ row }) => row.emailId === emailId && row.status !== 'Draft')?.row.id ?? null;
      return [...emails.values()]
        .filter((email) => email.origin === 'submitted' && messageIds.includes(email.messageId ?? ''))
        .sort((a, b) => byTime(b, a))
        .map(({ id, messageId }) => ({ messageId: messageId!, emailId: id, outboundId: copyOf(id) }));
    },
    async appendedMessageIds(accountId, emailIds) {
      const { emails } = of(accountId);
      const appended = emailIds.flatMap((id) => {
        const { origin, messageId } = emails.get(id) ?? {};
        return origin === 'appended' && messageId ? [[id, messageId] as const] : [];
      });
      return new Map(appended);
    },
    async senders(accountId, folderId) {
      const addresses = of(accountId)
        .emailsOf(folderId)
        .map(({ fromAddress }) => fromAddress.toLowerCase())
        .filter((address) => address !== '');
      return [...new Set(addresses)].sort();
    },
    async forget(maxAgeMs, limit) {
      const before = Date.now() - maxAgeMs;
      let count = 0;
      let left = limit;
      for (const account of tables.accounts.values()) {
        const kept = account.remembered.filter(({ at, id }) => at >= before || tables.inbound.has(id) || left-- <= 0);
        count += account.remembered.length - kept.length;
        account.remembered = kept;
      }
      return count;
    },
  };
}

const packed = (ids: readonly string[]): Uint8Array => Buffer.concat(ids.map(uuidOctets));

const byTime = (a: EmailRow, b: EmailRow): number => a.receivedAt - b.receivedAt || compare(a.id, b.id);

const sortedById = (rows: Iterable<EmailRow>): EmailRow[] => [...rows].sort((a, b) => compare(a.id, b.id));

function placementPage(
  folderId: string,
  rows: NonNullable<ReturnType<AccountRows['placements']['get']>>,
): PlacementPage {
  const sorted = [...rows].sort(([a], [b]) => a - b);
  return {
    folderId,
    count: sorted.length,
    uids: Uint32Array.from(sorted, ([uid]) => uid),
    emailIds: packed(sorted.map(([, { emailId }]) => emailId)),
    modseqs: Float64Array.from(sorted, ([, { modseq }]) => modseq),
    isDeleted: Uint8Array.from(sorted, ([, { isDeleted }]) => Number(isDeleted)),
  };
}

/** Returns all of them: only PostgreSQL limits how many are loaded of a large account. */
function expungedOf({ expunged, events, modseq }: Pick<AccountRows, 'expunged' | 'events' | 'modseq'>): Expunged {
  const ids = [...new Set(expunged.map(({ folderId }) => folderId))].sort();
  const folders = ids.map((folderId) => {
    const rows = expunged
      .filter((row) => row.folderId === folderId)
      .sort((a, b) => a.modseq - b.modseq || a.uid - b.uid);
    return {
      folderId,
      count: rows.length,
      uids: Uint32Array.from(rows, ({ uid }) => uid),
      modseqs: Float64Array.from(rows, (row) => row.modseq),
    };
  });
  return { floor: events.length === 0 ? modseq : events[0]!.seq - 1, folders };
}

function summaryOf({ flags: _flags, keywords: _keywords, modseq: _modseq, ...row }: EmailRow): EmailSummaryRow {
  return row;
}

function partOf(rows: readonly EmailRow[], part: ThreadPart): readonly EmailRow[] {
  if ('newest' in part) return rows.slice(-part.newest);
  return rows.slice((part.page - 1) * part.pageSize, part.page * part.pageSize);
}

const REPLY_MARKS = /^\s*((re|fwd?|aw|wg)\s*(\[\d+\])?:\s*)+/;

const KEYS: Readonly<Record<ListCriteria['order'], (email: EmailRow) => string | number>> = {
  date: ({ receivedAt }) => receivedAt,
  from: ({ fromName, fromAddress }) => (fromName || fromAddress).toLowerCase(),
  subject: ({ subject }) => subject.toLowerCase().replace(REPLY_MARKS, ''),
  size: ({ size }) => size,
};

function listed(
  emails: readonly EmailRow[],
  { mask, flags, fromAddress = '', order, isDescending, page, pageSize }: ListCriteria,
): ListedEmails {
  const found = emails.filter(
    (email) => (email.flags & mask) === flags && email.fromAddress.toLowerCase().includes(fromAddress.toLowerCase()),
  );
  const key = KEYS[order];
  const sign = isDescending ? -1 : 1;
  const timeSign = order === 'date' ? sign : -1;
  found.sort((a, b) => sign * compare(key(a), key(b)) || timeSign * byTime(a, b));
  return {
    ids: found.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id),
    totalCount: found.length,
    unreadCount: found.filter((email) => (email.flags & 1) === 0).length,
  };
}
