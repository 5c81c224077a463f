// The coalesced effect of a list of changes on the placements of one folder. Packed ids of a record stay packed: a text and an object
// for each of many emails cost more than everything else that the node does for the command.
import { uuidTime } from '../../mail-format/ids.js';
import type { PackedIds } from '../../mail-format/packed-ids.js';
import { LazyMap } from './lazy-map.js';

interface PlacementRow {
  readonly uid: number;
  readonly emailId: string;
  readonly isDeleted: boolean;
  readonly modseq: number;
  /** ms since the epoch; present when it differs from the time in the email's id. */
  readonly savedAt?: number;
}

/** The emails of one record, with consecutive UIDs. */
export interface PlacementsTogether {
  readonly firstUid: number;
  readonly ids: PackedIds;
  readonly modseq: number;
  /** ms since the epoch. */
  readonly savedAt: number;
}

export interface CoalescedPlacements {
  readonly placed: readonly PlacementRow[];
  /** In addition to those of `placed`. */
  readonly placedTogether: readonly PlacementsTogether[];
  readonly expunged: readonly PlacementRow[];
  /** In addition to those of `expunged`. */
  readonly expungedTogether: readonly PlacementsTogether[];
  /** Earlier placements whose `\Deleted` has changed. */
  readonly marked: readonly PlacementRow[];
}

const NONE: readonly never[] = [];

export class PlacementCoalescer {
  readonly #placed = new LazyMap<number, PlacementRow>();
  readonly #expunged = new LazyMap<number, PlacementRow>();
  readonly #marked = new LazyMap<number, PlacementRow>();
  #placedTogether: readonly PlacementsTogether[] = NONE;
  #expungedTogether: readonly PlacementsTogether[] = NONE;

  place(uid: number, emailId: string, modseq: number, savedAt: number): void {
    const isLater = savedAt !== uuidTime(emailId);
    this.#placed.set(uid, { uid, emailId, isDeleted: false, modseq, ...(isLater && { savedAt }) });
  }

  /** The id of a new email contains the time at which it was added. */
  placeAdded(uid: number, emailId: string, modseq: number): void {
    this.#placed.set(uid, { uid, emailId, isDeleted: false, modseq });
  }

  placeTogether(together: PlacementsTogether): void {
    this.#placedTogether = [...this.#placedTogether, together];
  }

  expunge(uid: number, emailId: string, modseq: number): void {
    this.#separate(uid);
    this.#marked.delete(uid);
    if (!this.#placed.delete(uid)) this.#expunged.set(uid, { uid, emailId, isDeleted: false, modseq });
  }

  expungeTogether(together: PlacementsTogether): void {
    const { firstUid, ids, modseq } = together;
    if (this.#placed.size + this.#marked.size + this.#placedTogether.length === 0) {
      this.#expungedTogether = [...this.#expungedTogether, together];
      return;
    }
    let uid = firstUid;
    for (const id of ids) this.expunge(uid++, id, modseq);
  }

  mark(uid: number, emailId: string, isDeleted: boolean, modseq: number): void {
    this.#separate(uid);
    const before = this.#placed.get(uid);
    if (before === undefined) this.#marked.set(uid, { uid, emailId, isDeleted, modseq });
    else this.#placed.set(uid, { ...before, isDeleted, modseq });
  }

  result(): CoalescedPlacements {
    return {
      placed: this.#placed.values(),
      placedTogether: this.#placedTogether,
      expunged: this.#expunged.values(),
      expungedTogether: this.#expungedTogether,
      marked: this.#marked.values(),
    };
  }

  /** Splits a packed run into rows when one of its emails changes again. */
  #separate(changed: number): void {
    const together = this.#placedTogether.find(
      ({ firstUid, ids }) => changed >= firstUid && changed < firstUid + ids.length,
    );
    if (together === undefined) return;
    this.#placedTogether = this.#placedTogether.filter((each) => each !== together);
    let uid = together.firstUid;
    for (const id of together.ids) this.place(uid++, id, together.modseq, together.savedAt);
  }
}

/** Counts the placements in `rows` and `together`. */
export function countOf(rows: readonly PlacementRow[], together: readonly PlacementsTogether[]): number {
  return together.reduce((sum, { ids }) => sum + ids.length, rows.length);
}
