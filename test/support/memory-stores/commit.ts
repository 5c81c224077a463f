// The fenced commit of a mailbox in memory: it writes the rows of `coalesce(changes)`, all of them or none.

import { type AddedEmail, type CoalescedChanges, coalesce } from '../../../src/store/changes/coalesced-changes.js';
import type { SharedMessage } from '../../../src/store/inline/shared-message.js';
import type { EmailRow } from '../../../src/store/mailbox-rows.js';
import type { CommitResult, MailboxChange, ThreadChange } from '../../../src/store/mailboxes.js';
import { type AccountRows, type MemoryTables, storedJson } from './tables.js';

export function commitChange(tables: MemoryTables, change: MailboxChange): CommitResult {
  const account = tables.accounts.get(change.accountId);
  const replies = change.remembered.flatMap(({ id }) => account?.remembered.find((before) => before.id === id) ?? []);
  const isRepeated = (id: string) => replies.some((reply) => reply.id === id);
  const gone = change.inbound.filter((id) => isRepeated(id) || tables.inbound.get(id)?.accountId !== change.accountId);
  if (gone.length + replies.length > 0) {
    for (const id of gone) if (isRepeated(id)) tables.inbound.delete(id);
    return { kind: 'repeated', inbound: gone, replies: replies.map(({ id, reply }) => ({ id, reply })) };
  }
  if (account?.epoch !== change.epoch || account.modseq !== change.modseqBefore) return { kind: 'fenced' };
  const coalesced = coalesce(change.changes);
  account.modseq = change.modseqAfter;
  for (const id of change.inbound) tables.inbound.delete(id);
  const threads = writeEmails(account, coalesced);
  writePlacements(account, coalesced);
  writeFolders(account, coalesced, change);
  writeAnnotations(account, coalesced);
  writeFilters(account, coalesced);
  writeSieve(account, coalesced);
  writeSuppressions(account, coalesced);
  writePreferences(account, coalesced);
  writeOutbound(account, coalesced);
  insertLocalDeliveries(tables, coalesced);
  countSending(account, change);
  log(account, change);
  const at = Date.now();
  account.remembered.push(...change.remembered.map(({ id, reply }) => ({ id, reply: storedJson(reply), at })));
  return threads === undefined ? { kind: 'committed' } : { kind: 'committed', threads };
}

function countSending(account: AccountRows, { sent }: MailboxChange): void {
  if (sent === undefined) return;
  const { addresses, minute, ...added } = sent;
  const before = account.sentMinutes.get(minute) ?? { recipients: 0, strangers: 0, refused: 0, forwarded: 0 };
  account.sentMinutes.set(minute, {
    minute,
    recipients: before.recipients + added.recipients,
    strangers: before.strangers + added.strangers,
    refused: before.refused + added.refused,
    forwarded: before.forwarded + added.forwarded,
  });
  for (const address of addresses) account.knownRecipients.add(address);
}

/** Returns the changes of threads that already existed. */
function writeEmails(account: AccountRows, coalesced: CoalescedChanges): ThreadChange | undefined {
  const { emailsAdded, flaggedTogether, emailsFlagged, emailsRemoved } = coalesced;
  const known = emailsAdded.map(({ threadIds }) => [
    ...new Set(threadIds.flatMap((id) => account.threads.get(id) ?? [])),
  ]);
  for (const [i, { threadIds, ...email }] of emailsAdded.entries()) {
    const threadId = known[i]!.sort()[0] ?? email.threadId;
    account.emails.set(email.id, rowOf(email, threadId));
    for (const id of threadIds) if (!account.threads.has(id)) account.threads.set(id, threadId);
  }
  for (const threads of known) if (threads.length > 1) joinThreads(account, threads);
  const together = flaggedTogether.flatMap(({ change: { seq, payload }, ids }) =>
    [...ids].map((id) => ({ id, flags: payload.flags, keywords: payload.keywords, modseq: seq })),
  );
  for (const { id, flags, keywords, modseq } of [...together, ...emailsFlagged]) {
    const email = account.emails.get(id);
    if (email) account.emails.set(id, { ...email, flags, keywords: keywords ?? email.keywords, modseq });
  }
  for (const id of emailsRemoved) {
    account.emails.delete(id);
    account.words.delete(id);
  }
  if (known.some((threads) => threads.length > 1)) return 'joined';
  return known.some((threads) => threads.length > 0) ? 'grown' : undefined;
}

function rowOf(email: Omit<AddedEmail, 'threadIds'>, threadId: string): EmailRow {
  const { fromIsEnvelopeSender = false, hasAuthenticationResults = false } = email;
  return { ...email, threadId, fromIsEnvelopeSender, hasAuthenticationResults };
}

/** The oldest thread takes the emails of the others, whose ids then lead to it. */
function joinThreads(account: AccountRows, threads: readonly string[]): void {
  const [into, ...others] = [...new Set(threads.map((id) => account.threads.get(id) ?? id))].sort();
  for (const from of others) {
    for (const [id, email] of account.emails)
      if (email.threadId === from) account.emails.set(id, { ...email, threadId: into! });
    for (const [id, thread] of account.threads) if (thread === from) account.threads.set(id, into!);
    account.threads.set(from, into!);
  }
}

function writePlacements(account: AccountRows, { placements }: CoalescedChanges): void {
  for (const [folderId, { placed, placedTogether, expunged, expungedTogether, marked }] of placements) {
    const folder = account.placements.get(folderId) ?? new Map();
    account.placements.set(folderId, folder);
    for (const { uid, ...row } of placed) folder.set(uid, row);
    for (const { firstUid, ids, modseq, savedAt } of placedTogether) {
      [...ids].forEach((emailId, i) => {
        folder.set(firstUid + i, { emailId, isDeleted: false, modseq, savedAt });
      });
    }
    for (const { firstUid, ids, modseq } of expungedTogether) {
      for (let uid = firstUid; uid < firstUid + ids.length; uid++) {
        folder.delete(uid);
        account.expunged.push({ folderId, uid, modseq });
      }
    }
    for (const { uid, modseq } of expunged) {
      folder.delete(uid);
      account.expunged.push({ folderId, uid, modseq });
    }
    for (const { uid, isDeleted, modseq } of marked) {
      const row = folder.get(uid);
      if (row) folder.set(uid, { ...row, isDeleted, modseq });
    }
  }
}

function writeFolders(account: AccountRows, coalesced: CoalescedChanges, { counters }: MailboxChange): void {
  const { folders } = account;
  const counted = new Map(counters.map((row) => [row.id, row]));
  for (const folder of coalesced.foldersAdded) {
    const row = counted.get(folder.id);
    if (row) folders.set(folder.id, { ...folder, ...row });
  }
  for (const folder of coalesced.foldersChanged) {
    const row = folders.get(folder.id);
    if (row) folders.set(folder.id, { ...row, ...folder, color: folder.color ?? row.color });
  }
  for (const row of counters) {
    const folder = folders.get(row.id);
    if (folder) folders.set(row.id, { ...folder, ...row });
  }
  for (const id of coalesced.foldersRemoved) {
    folders.delete(id);
    account.placements.delete(id);
    account.expunged = account.expunged.filter(({ folderId }) => folderId !== id);
  }
}

function writeAnnotations({ annotations }: AccountRows, coalesced: CoalescedChanges): void {
  for (const [key, { folderId }] of annotations) {
    if (folderId !== null && coalesced.foldersRemoved.includes(folderId)) annotations.delete(key);
  }
  for (const row of coalesced.annotations) {
    const key = `${row.folderId ?? ''} ${row.name}`;
    if (row.value === null) annotations.delete(key);
    else annotations.set(key, row);
  }
}

function writeSuppressions({ suppressions, vacationAnswered }: AccountRows, coalesced: CoalescedChanges): void {
  for (const key of coalesced.vacationForgotten) vacationAnswered.delete(key);
  for (const { key, until } of coalesced.vacationAnswered) vacationAnswered.set(key, until);
  for (const address of coalesced.suppressionsRemoved) suppressions.delete(address);
  for (const suppression of coalesced.suppressions) suppressions.set(suppression.address, suppression);
}

function writeFilters(account: AccountRows, coalesced: CoalescedChanges): void {
  const { filters, deferred, filterRuns, filterRunBatches } = account;
  for (const due of coalesced.dueMail) account.dueMail.set(due.id, due);
  for (const id of coalesced.dueMailEnded) account.dueMail.delete(id);
  for (const run of coalesced.filterRuns) filterRuns.set(run.id, run);
  for (const batch of coalesced.filterRunBatches) filterRunBatches.set(`${batch.runId} ${batch.number}`, batch);
  for (const id of coalesced.filterRunsRemoved) {
    filterRuns.delete(id);
    for (const [key, { runId }] of filterRunBatches) if (runId === id) filterRunBatches.delete(key);
  }
  for (const row of coalesced.filters) {
    filters.set(row.id, { ...row, createdAt: filters.get(row.id)?.createdAt ?? row.createdAt });
  }
  for (const id of coalesced.filtersRemoved) filters.delete(id);
  for (const waiting of coalesced.filtersAwaitingBody) deferred.set(waiting.emailId, waiting);
  for (const id of coalesced.bodyFiltersEnded) deferred.delete(id);
}

function writeSieve(account: AccountRows, { sieve }: CoalescedChanges): void {
  if (sieve === undefined) return;
  for (const script of sieve.scripts) account.sieveScripts.set(script.name, script);
  for (const name of sieve.removed) account.sieveScripts.delete(name);
  if (sieve.active !== undefined) account.activeSieveScript = sieve.active;
  for (const key of sieve.untracked) account.sieveKeys.delete(key);
  for (const { key, until } of sieve.tracked) account.sieveKeys.set(key, until);
}

function writePreferences(account: AccountRows, { preferences }: CoalescedChanges): void {
  if (preferences === undefined) return;
  const chosen = storedJson({ ...account.preferences?.chosen, ...preferences.chosen });
  account.preferences = { chosen, updatedAt: new Date(preferences.at) };
}

function writeOutbound({ outbound }: AccountRows, coalesced: CoalescedChanges): void {
  for (const { outbound: logged, row: whole, content, recipientIds, recipients: written } of coalesced.outbound) {
    const known = outbound.get(logged.id);
    const recipients = known?.recipients ?? new Map();
    const kept = new Set(recipientIds ?? recipients.keys());
    for (const id of recipients.keys()) if (!kept.has(id)) recipients.delete(id);
    for (const { position, recipient } of written) {
      const before = recipients.get(recipient.id);
      if (before === undefined) recipients.set(recipient.id, { position, recipient });
      else {
        const { status, deliveredAt, lastError, statusCode } = recipient;
        const changed = { ...before.recipient, status, deliveredAt, lastError, statusCode };
        recipients.set(recipient.id, { position: before.position, recipient: changed });
      }
    }
    const createdAt = known?.row.createdAt ?? logged.createdAt;
    outbound.set(logged.id, {
      row: { ...logged, createdAt, machine: storedJson(whole?.machine ?? null) },
      recipients,
      content: content === null ? undefined : (content ?? known?.content),
      attempts: known?.attempts ?? new Map(),
    });
  }
  for (const { outboundId, attempt } of coalesced.attempts) {
    const attempts = outbound.get(outboundId)?.attempts;
    if (attempts?.has(attempt.id) === false) attempts.set(attempt.id, storedJson(attempt));
  }
  for (const id of coalesced.outboundRemoved) outbound.delete(id);
}

function insertLocalDeliveries(tables: MemoryTables, { localDeliveries }: CoalescedChanges): void {
  const at = Date.now();
  for (const { envelope, ...delivery } of localDeliveries) {
    if (tables.accounts.has(delivery.accountId))
      tables.inbound.set(delivery.id, { ...delivery, envelope: storedJson(envelope), at });
  }
}

/** Adds inbound rows for all accounts except the one whose commit places the message. */
export function oweShared(tables: MemoryTables, message: SharedMessage, placedBy: string | undefined): void {
  const { content, envelope, deliveries } = message;
  const at = Date.now();
  for (const delivery of deliveries) {
    if (delivery.accountId === placedBy || tables.inbound.has(delivery.id)) continue;
    tables.inbound.set(delivery.id, { ...delivery, blob: content.hash, envelope: storedJson(envelope), at });
  }
}

function log({ events }: AccountRows, { changes }: MailboxChange): void {
  for (const { seq, at, type, payload } of changes) {
    const entry = { type, payload: storedJson(payload) };
    const last = events.at(-1);
    if (last?.seq === seq) last.entries.push(entry);
    else events.push({ seq, at, entries: [entry] });
  }
}
