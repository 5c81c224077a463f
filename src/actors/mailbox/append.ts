// Append: messages that a client brings become emails in a folder of its choice, and may replace one that is there. No filter
// looks at them. A mail program that has sent a message puts a copy into Sent itself; there the copy that the server has
// placed is the reply (docs/interface/mail.md, "IMAP").
import { isUuid } from '../../mail/ids.js';
import type { FolderRow } from '../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import { type FlagSet, flagsAmong, flagsNamed } from './flags.js';
import { newEmail } from './new-email.js';
import { endPlacements, modseqsOf } from './placing.js';
import type { MailboxProtocol, OfferedAppend } from './protocol.js';
import { folderAt, folderNamed } from './selection.js';
import type { MailboxTransaction } from './transaction.js';

const DAY_MS = 86_400_000;

type Append = Payload<MailboxProtocol, 'append'>;
type Message = Append['messages'][number];

interface Replaced {
  readonly folderId: string;
  readonly slot: number;
}

export function append(
  tx: MailboxTransaction,
  { folderId, messages, replaces }: Append,
): Outcome<MailboxProtocol, 'append'> {
  const folder = folderNamed(tx, folderId);
  if (folder === undefined) return { refusal: 'noSuchFolder' };
  const replaced = replaces === undefined ? undefined : emailAt(tx, replaces);
  if (replaces !== undefined && replaced === undefined) return { refusal: 'noSuchEmail' };
  const all = flagsNamed(
    tx,
    messages.flatMap(({ flags }) => flags),
    true,
  );
  if ('refusal' in all) return all;
  const { id: toFolderId, uidValidity, highestModseq: before } = folder;
  const [first] = messages;
  const copy = messages.length === 1 && replaced === undefined ? copyOf(tx, folder, first!) : undefined;
  tx.begin();
  if (copy !== undefined) {
    tx.discard(first!.blob);
    return { reply: { uidValidity, emails: [{ emailId: tx.id(copy), uid: tx.folders.uid(toFolderId, copy) }] } };
  }
  const emails = messages.map((message) => add(tx, folder, message, all));
  if (replaced !== undefined) endPlacements(tx, [replaced.slot], replaced.folderId);
  tx.announceUnread();
  return { reply: { uidValidity, emails, folderModseqs: modseqsOf(tx, toFolderId, before) } };
}

/** Appends messages that their commit stores. Whether Sent has a copy of a single one is looked up in the store first. */
export function appendOffered(
  tx: MailboxTransaction,
  { offerId, folderId: named, path, flags, otherFlags = [], replaces }: Payload<MailboxProtocol, 'appendOffered'>,
): Outcome<MailboxProtocol, 'appendOffered'> {
  const offered = tx.offered(offerId);
  if (!('offer' in offered)) return { reply: offered };
  const { message, others } = offered.offer;
  const folderId = path === undefined ? named : folderAt(tx.folders.rows(), path)?.id;
  if (folderId === undefined) return { refusal: 'noSuchFolder' };
  if (others.length === 0 && folderNamed(tx, folderId)?.role === 'sent') return { reply: { isTaken: false } };
  const messages = [message, ...others].map(({ content, summary, receivedAt }, i) => {
    return { blob: content.hash, summary, receivedAt, flags: i === 0 ? flags : otherFlags[i - 1]! };
  });
  const { reply, refusal } = append(tx, { folderId, messages, replaces });
  if (reply === undefined) return { refusal };
  const result: OfferedAppend = reply;
  tx.take(offered.offer, result, true);
  return { reply: { isTaken: true } };
}

function add(
  tx: MailboxTransaction,
  folder: FolderRow,
  { blob, summary, receivedAt, flags: names }: Message,
  all: FlagSet,
) {
  const emailId = tx.newId();
  const { bits: flags, keywords, isDeleted } = flagsAmong(all, names);
  const email = newEmail(summary, { id: emailId, blob, receivedAt, flags, keywords });
  const [placement] = tx.add(email, [folder.id], { isNew: folder.role === 'inbox' });
  if (isDeleted) tx.setDeleted([tx.find(emailId)], folder.id, true);
  return { emailId, uid: placement!.uid };
}

function emailAt(tx: MailboxTransaction, { folderId, uid }: NonNullable<Append['replaces']>): Replaced | undefined {
  const folder = folderNamed(tx, folderId);
  const [slot] = folder === undefined ? [] : tx.folders.slotsOfUids(folder.id, [[uid, uid]]);
  return slot === undefined ? undefined : { folderId: folder!.id, slot };
}

/** In Sent the newest email of the Message-Id that was received within a day. */
function copyOf(tx: MailboxTransaction, folder: FolderRow, { summary }: Message): number | undefined {
  const { messageId } = summary;
  if (folder.role !== 'sent' || messageId === null) return undefined;
  const { copies } = tx.prefetched;
  const stored = copies.get(messageId);
  if (stored === undefined) throw tx.prefetched.fault ?? new Error(`copies of ${messageId} were not read`);
  for (const id of [...tx.addedWith(messageId), ...stored]) {
    const slot = isUuid(id) ? tx.find(id) : -1;
    if (slot < 0 || tx.folders.uid(folder.id, slot) === 0) continue;
    if (tx.receivedAt(slot) > tx.now - DAY_MS) return slot;
  }
  return undefined;
}
