// The copy that a client itself puts into Sent takes the place of the one that submission made, once: whether it is appended, or
// copied or moved there from a folder to which the client had appended it (docs/interface/mail.md, "IMAP").
import type { MailboxTransaction } from '../transaction.js';

const DAY_MS = 86_400_000;

/** The copies that emails of one command take the places of. Chosen before the command changes anything. */
export class ReplacedCopies {
  readonly #tx: MailboxTransaction;
  /** The key is the position of the email that takes the place. */
  readonly #chosen = new Map<number, number>();
  readonly #taken: Set<number>;

  /** `except`: emails that the command is about, which stay. */
  constructor(tx: MailboxTransaction, except: readonly number[] = []) {
    this.#tx = tx;
    this.#taken = new Set(except);
  }

  /** The email at this position of the command, with this Message-Id, takes the place of the newest copy of the last day, if there is one. */
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

  /** As `choose`, of emails that were there before: those that a client has appended, and that do not stay where they are. */
  chooseFor(slots: readonly number[]): void {
    slots.forEach((slot, position) => {
      this.choose(position, this.#tx.copies.appendedMessageId(slot));
    });
  }

  /** `slots`: of the emails of the command, which are in Sent now, by their positions. */
  replace(slots: readonly number[]): void {
    for (const [position, copy] of this.#chosen) replaceCopy(this.#tx, copy, slots[position]!);
  }
}

/** The email gets the other folders and labels of the copy, and stands for what was sent. */
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
