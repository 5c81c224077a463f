// The copy that a client puts into Sent replaces, once, the copy that submission made: whether the client appends it there, or copies or
// moves it from a folder to which it had appended it (docs/interface/mail.md, "IMAP").
import type { Usage } from '../../../store/limits/quotas.js';
import type { MailboxTransaction } from '../state/transaction.js';

const DAY_MS = 86_400_000;

/** The copies that emails of one command replace. They are chosen before the command changes anything. */
export class ReplacedCopies {
  readonly #tx: MailboxTransaction;
  /** Keyed by the position of the email that replaces the copy. */
  readonly #chosen = new Map<number, number>();
  readonly #taken: Set<number>;

  /** `except`: emails of the command itself, which are not replaced. */
  constructor(tx: MailboxTransaction, except: readonly number[] = []) {
    this.#tx = tx;
    this.#taken = new Set(except);
  }

  /** The email with this Message-Id at this position of the command replaces the newest copy of the last day, if there is one. */
  choose(position: number, messageId: string | null): void {
    const tx = this.#tx;
    if (messageId === null) return;
    const sentId = tx.folders.rowOf('sent').id;
    for (const emailId of tx.copies.of(messageId)) {
      const slot = tx.find(emailId);
      if (slot < 0 || this.#taken.has(slot) || tx.folders.uid(sentId, slot) === 0) continue;
      if (tx.receivedAt(slot) <= tx.now - DAY_MS) continue;
      this.#taken.add(slot);
      this.#chosen.set(position, slot);
      return;
    }
  }

  /** Like `choose`, for existing emails that a client has appended and that the command copies or moves. */
  chooseFor(slots: readonly number[]): void {
    slots.forEach((slot, position) => {
      this.choose(position, this.#tx.copies.appendedMessageId(slot));
    });
  }

  /** What the mailbox uses less when the chosen copies are replaced. */
  get freed(): Usage {
    const bytes = [...this.#chosen.values()].reduce((sum, slot) => sum + this.#tx.sizeOf(slot), 0);
    return { bytes, messages: this.#chosen.size };
  }

  /** `slots`: the emails of the command by position; they are in Sent now. */
  replace(slots: readonly number[]): void {
    for (const [position, copy] of this.#chosen) replaceCopy(this.#tx, copy, slots[position]!);
  }
}

/** The email gets the other folders and labels of the copy, and becomes the copy of the outbound email. */
function replaceCopy(tx: MailboxTransaction, copy: number, slot: number): void {
  const copyId = tx.id(copy);
  for (const folderId of tx.folders.holding(copy)) {
    if (tx.folders.uid(folderId, slot) !== 0) continue;
    tx.place([slot], folderId);
    if (tx.isDeleted(copy, folderId)) tx.setDeleted([slot], folderId, true);
  }
  tx.remove([copy]);
  const row = tx.copies.outboundOf(copyId);
  if (row === undefined) return;
  tx.outbound.put({ ...row, emailId: tx.id(slot) }, row, { recipients: [] });
}
