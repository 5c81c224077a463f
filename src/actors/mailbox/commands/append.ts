// Append: messages that a client uploads become emails in a folder of its choice, and may replace an email there. Filters do not apply. A
// mail program puts a copy of each message that it sends into Sent; that copy replaces the one that submission made
// (outbound/submitted-copies.ts).
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { Usage } from '../../../store/limits/quotas.js';
import type { FolderRow } from '../../../store/mailbox-rows.js';
import type { Outcome, Payload, Reply } from '../../runtime/protocol.js';
import { ReplacedCopies } from '../outbound/submitted-copies.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { type FlagSet, flagsAmong, flagsNamed } from './flags.js';
import { newEmail } from './new-email.js';
import { endPlacements, modseqsOf, teach } from './placing.js';
import { quotaToRead } from './prefetch.js';
import { folderAt, folderNamed } from './selection.js';

type Append = Payload<MailboxProtocol, 'append'>;

interface Message {
  readonly blob: string;
  readonly summary: MessageSummary;
  readonly receivedAt: number;
  readonly flags: readonly string[];
}

interface Replaced {
  readonly folderId: string;
  readonly slot: number;
}

export const append = { reads: quotaToRead, plan: appendMessages };

function appendMessages(
  tx: MailboxTransaction,
  { folderId, path, messages: appended, replaces }: Append,
): Outcome<MailboxProtocol, 'append'> {
  const found = tx.messages.open<Reply<MailboxProtocol, 'append'>>(appended);
  if (!('opened' in found)) return found;
  const { opened } = found;
  const messages = opened.messages.map(({ blob, summary }, i): Message => {
    const { receivedAt, flags } = appended[i]!;
    return { blob, summary, receivedAt, flags };
  });
  const folder = path === undefined ? folderNamed(tx, folderId ?? '') : folderAt(tx.folders.rows(), path);
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
  const copies = new ReplacedCopies(tx);
  if (folder.role === 'sent') messages.forEach(({ summary }, i) => void copies.choose(i, summary.messageId));
  if (tx.exceedsQuota(addedBy(tx, messages, copies, replaced))) return { refusal: 'overQuota' };
  tx.begin();
  const emails = messages.map((message) => add(tx, folder, message, all));
  const slots = emails.map(({ emailId }) => tx.find(emailId));
  if (folder.role === 'junk') teach(tx, slots, true);
  copies.replace(slots);
  if (replaced !== undefined && tx.folders.uid(replaced.folderId, replaced.slot) !== 0) {
    endPlacements(tx, [replaced.slot], replaced.folderId);
  }
  tx.announceUnread();
  const reply = { uidValidity, emails, folderModseqs: modseqsOf(tx, toFolderId, before) };
  tx.messages.accept(opened, reply);
  return { reply };
}

function add(
  tx: MailboxTransaction,
  folder: FolderRow,
  { blob, summary, receivedAt, flags: names }: Message,
  all: FlagSet,
) {
  const emailId = tx.newId();
  const { bits: flags, keywords, isDeleted } = flagsAmong(all, names);
  const email = newEmail(summary, { id: emailId, blob, receivedAt, flags, keywords, origin: 'appended' });
  const [placement] = tx.add(email, [folder.id], { isNew: folder.role === 'inbox' });
  if (isDeleted) tx.setDeleted([tx.find(emailId)], folder.id, true);
  return { emailId, uid: placement!.uid };
}

/** What the mailbox uses more afterwards: the emails that are replaced make room. */
function addedBy(
  tx: MailboxTransaction,
  messages: readonly Message[],
  copies: ReplacedCopies,
  replaced: Replaced | undefined,
): Usage {
  const { freed } = copies;
  const isFreed = replaced !== undefined && tx.folders.holding(replaced.slot).length === 1;
  const bytes = messages.reduce((sum, { summary }) => sum + summary.size, 0);
  return {
    bytes: bytes - freed.bytes - (isFreed ? tx.sizeOf(replaced.slot) : 0),
    messages: messages.length - freed.messages - (isFreed ? 1 : 0),
  };
}

function emailAt(tx: MailboxTransaction, { folderId, uid }: NonNullable<Append['replaces']>): Replaced | undefined {
  const folder = folderNamed(tx, folderId);
  const [slot] = folder === undefined ? [] : tx.folders.slotsOfUids(folder.id, [[uid, uid]]);
  return slot === undefined ? undefined : { folderId: folder!.id, slot };
}
