// Rows of the log: the entries of one seq as JSON, and separately the ids that entries contain packed. Two entries may use the
// same ids.
import { uuidOctets } from '../../../mail-format/ids.js';
import { PackedIds } from '../../../mail-format/packed-ids.js';
import type { Change } from '../../changes/changes.js';

const ID_OCTETS = 16;

/** An entry as the row has it. `packed`: which of the row's ids it covers, the first one included. */
export interface StoredEntry {
  readonly type: string;
  readonly payload: unknown;
  readonly packed?: Packed;
}

interface Packed {
  readonly first: number;
  readonly count: number;
}

export interface LogRow {
  /** Account. */
  readonly a: string;
  readonly seq: number;
  readonly at: number;
  readonly entries: StoredEntry[];
  /** Position of its ids among those of all rows, 1-based, and their octets; undefined without ids. */
  readonly from: number;
  octets?: number;
  /** Number of ids that its entries use. */
  count: number;
}

/** The log rows of a commit, and the ids of all of them. */
export class LogRows {
  readonly rows: LogRow[] = [];
  readonly #packed: Uint8Array[] = [];
  readonly #places = new Map<Change, Packed>();
  #octets = 0;
  /** The ids that were packed last. */
  #last:
    | { readonly row: LogRow; readonly emailId: string; readonly others: PackedIds; readonly packed: Packed }
    | undefined;

  /** Adds one row per seq, so that a change with many entries costs no more rows than one with a single entry. */
  add(accountId: string, changes: readonly Change[]): void {
    let row: LogRow | undefined;
    for (const change of changes) {
      const { seq, at } = change;
      if (row?.seq !== seq) {
        row = { a: accountId, seq, at, entries: [], from: this.#octets + 1, count: 0 };
        this.rows.push(row);
      }
      row.entries.push(this.#entryOf(change, row));
    }
  }

  get ids(): Uint8Array {
    return this.#packed.length === 1 ? this.#packed[0]! : Buffer.concat(this.#packed);
  }

  get areAnyPacked(): boolean {
    return this.rows.some(({ count }) => count > 0);
  }

  /** The place of a packed record's ids within its row; for records of flags. */
  placeOf(change: Change): Packed {
    return this.#places.get(change)!;
  }

  #entryOf(change: Change, row: LogRow): StoredEntry {
    const { type, payload } = change;
    if (!('others' in payload) || !(payload.others instanceof PackedIds)) return { type, payload };
    const { others, ...first } = payload;
    const packed = this.#placeFor(change, row, first.emailId, others);
    this.#last = { row, emailId: first.emailId, others, packed };
    return { type, payload: first, packed };
  }

  /**
   * Moved emails have two records with the same ids, which are stored once. Records of flags have their own ids, because their
   * places identify deferred writes.
   */
  #placeFor(change: Change, row: LogRow, emailId: string, others: PackedIds): Packed {
    const last = this.#last;
    const isKnown = change.type !== 'FlagsChanged' && last?.row === row && last.emailId === emailId;
    if (isKnown && Buffer.compare(last.others.octets, others.octets) === 0) return last.packed;
    const packed = { first: row.count, count: 1 + others.length };
    if (change.type === 'FlagsChanged') this.#places.set(change, packed);
    row.count += packed.count;
    if (others.whole !== undefined) this.#packed.push(others.whole.octets);
    else this.#packed.push(uuidOctets(emailId), others.octets);
    const octets = packed.count * ID_OCTETS;
    this.#octets += octets;
    row.octets = (row.octets ?? 0) + octets;
    return packed;
  }
}

/** The entry with the ids of its other emails as texts. */
export function withIds({ type, payload, packed }: StoredEntry, ids: Uint8Array): Omit<StoredEntry, 'packed'> {
  if (packed === undefined) return { type, payload };
  const { first, count } = packed;
  const others = new PackedIds(ids.subarray((first + 1) * ID_OCTETS, (first + count) * ID_OCTETS));
  return { type, payload: { ...(payload as object), others: [...others] } };
}
