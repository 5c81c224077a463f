// How the records of a transaction name the emails that they are about: the first one, and the others if there are any, by ids
// that are packed where they are many, and with UIDs of a folder where the record is about their placements.
import type { PackedIds } from '../../mail/packed-ids.js';
import type { ChangedMailbox } from './changed-mailbox.js';

/** Emails of a record from which on their ids are packed. */
export const LEAST_PACKED = 200;

export const HIDDEN = { isHidden: true } as const;

export class NamedEmails {
  readonly #mailbox: Pick<ChangedMailbox, 'emails' | 'folders'>;

  constructor(mailbox: Pick<ChangedMailbox, 'emails' | 'folders'>) {
    this.#mailbox = mailbox;
  }

  /** Slots that share a record, with what the record says of them besides. */
  apart(slots: readonly number[]): (readonly [alike: readonly number[], hidden: { readonly isHidden?: true }])[] {
    const { shown, hidden } = this.#mailbox.folders.apart(slots);
    return [[shown, {}] as const, [hidden, HIDDEN] as const].filter(([alike]) => alike.length > 0);
  }

  /** The emails of a record that is about several: the first, and ids of the others. Many are packed. */
  emails(slots: readonly number[]): { readonly emailId: string; readonly others?: readonly string[] | PackedIds } {
    const emailId = this.#mailbox.emails.id(slots[0]!);
    if (slots.length === 1) return { emailId };
    if (slots.length >= LEAST_PACKED) return { emailId, others: this.#mailbox.emails.packedIds(slots).rest };
    return { emailId, others: slots.slice(1).map((slot) => this.#mailbox.emails.id(slot)) };
  }

  placements(slots: readonly number[], folderId: string) {
    const uids = slots.map((slot) => this.#mailbox.folders.uid(folderId, slot));
    const [uid] = uids;
    // Many that follow each other need no UIDs of their own.
    if (slots.length >= LEAST_PACKED && uids.every((each, i) => each === uid! + i)) {
      return { uid: uid!, ...this.emails(slots) };
    }
    const [first, ...others] = slots.map((slot, i) => ({ emailId: this.#mailbox.emails.id(slot), uid: uids[i]! }));
    return others.length === 0 ? first! : { ...first!, others };
  }

  /** With all their placements: the same folders hold each of the emails. */
  everywhere(slots: readonly number[]) {
    const { emails, folders } = this.#mailbox;
    const folderIds = folders.holding(slots[0]!);
    const uidsOf = (slot: number) => folderIds.map((folderId) => folders.uid(folderId, slot));
    const [first, ...rest] = slots.map((slot) => ({ emailId: emails.id(slot), uids: uidsOf(slot) }));
    const placements = folderIds.map((folderId, i) => ({ folderId, uid: first!.uids[i]! }));
    return { emailId: first!.emailId, placements, ...(rest.length > 0 && { others: rest }) };
  }
}
