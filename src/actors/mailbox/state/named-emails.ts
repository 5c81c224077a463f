// How the records of a transaction name their emails: the first one, and the ids of the others, packed when there are many, with UIDs of a
// folder when the record is about placements.
import type { PackedIds } from '../../../mail-format/packed-ids.js';
import type { ChangedMailbox } from './changed-mailbox.js';

/** The least number of emails of a record whose ids are packed. */
export const LEAST_PACKED = 200;

export const HIDDEN = { isHidden: true } as const;

export class NamedEmails {
  readonly #mailbox: Pick<ChangedMailbox, 'emails' | 'folders'>;

  constructor(mailbox: Pick<ChangedMailbox, 'emails' | 'folders'>) {
    this.#mailbox = mailbox;
  }

  /** Splits slots into groups that share a record, each with the fields that the record adds. */
  apart(slots: readonly number[]): (readonly [alike: readonly number[], hidden: { readonly isHidden?: true }])[] {
    const { shown, hidden } = this.#mailbox.folders.apart(slots);
    return [[shown, {}] as const, [hidden, HIDDEN] as const].filter(([alike]) => alike.length > 0);
  }

  /** Names the emails of a record: the first, and ids of the others, packed when there are many. */
  emails(slots: readonly number[]): { readonly emailId: string; readonly others?: readonly string[] | PackedIds } {
    const emailId = this.#mailbox.emails.id(slots[0]!);
    if (slots.length === 1) return { emailId };
    if (slots.length >= LEAST_PACKED) return { emailId, others: this.#mailbox.emails.packedIds(slots).rest };
    return { emailId, others: slots.slice(1).map((slot) => this.#mailbox.emails.id(slot)) };
  }

  placements(slots: readonly number[], folderId: string) {
    const uids = slots.map((slot) => this.#mailbox.folders.uid(folderId, slot));
    const [uid] = uids;
    // Many emails with consecutive UIDs need only the first UID.
    if (slots.length >= LEAST_PACKED && uids.every((each, i) => each === uid! + i)) {
      return { uid: uid!, ...this.emails(slots) };
    }
    const [first, ...others] = slots.map((slot, i) => ({ emailId: this.#mailbox.emails.id(slot), uid: uids[i]! }));
    return others.length === 0 ? first! : { ...first!, others };
  }

  /** Names emails with all their placements; the same folders must hold each of them. */
  everywhere(slots: readonly number[]) {
    const { emails, folders } = this.#mailbox;
    const folderIds = folders.holding(slots[0]!);
    const uidsOf = (slot: number) => folderIds.map((folderId) => folders.uid(folderId, slot));
    const [first, ...rest] = slots.map((slot) => ({ emailId: emails.id(slot), uids: uidsOf(slot) }));
    const placements = folderIds.map((folderId, i) => ({ folderId, uid: first!.uids[i]! }));
    return { emailId: first!.emailId, placements, ...(rest.length > 0 && { others: rest }) };
  }
}
