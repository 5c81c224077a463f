// Rows of the log: the entries of one seq as JSON, and beside them the ids that entries name packed. Nodes of an earlier version
// see the first email of such an entry alone.
import { uuidOctets } from '../../mail/ids.js';
import { PackedIds } from '../../mail/packed-ids.js';
import type { Change } from '../changes.js';

const ID_OCTETS = 16;

/** As the row has it. `packed`: which of the row's ids it is about, the first one included. */
export interface StoredEntry {
  readonly type: string;
  readonly payload: unknown;
  readonly packed?: { readonly first: number; readonly count: number };
}

export interface LogRow {
  /** Account. */
  readonly a: string;
  readonly seq: number;
  readonly at: number;
  readonly entries: StoredEntry[];
  /** Where its ids begin among those of all rows, 1-based, and how many octets they are. */
  readonly from: number;
  octets: number;
}

/** Rows of a commit, and the ids of all of them. */
export class LogRows {
  readonly rows: LogRow[] = [];
  readonly #packed: Uint8Array[] = [];
  readonly #places = new Map<Change, { readonly first: number; readonly count: number }>();
  #octets = 0;

  /** One row a seq: a change of many entries costs no more rows than one of a single entry. */
  add(accountId: string, changes: readonly Change[]): void {
    let row: LogRow | undefined;
    for (const change of changes) {
      const { seq, at } = change;
      if (row?.seq !== seq) {
        row = { a: accountId, seq, at, entries: [], from: this.#octets + 1, octets: 0 };
        this.rows.push(row);
      }
      row.entries.push(this.#entryOf(change, row));
    }
  }

  get ids(): Buffer {
    return Buffer.concat(this.#packed);
  }

  get areAnyPacked(): boolean {
    return this.#packed.length > 0;
  }

  /** Where the ids of a packed record are in its row. */
  placeOf(change: Change): { readonly first: number; readonly count: number } {
    return this.#places.get(change)!;
  }

  #entryOf(change: Change, row: LogRow): StoredEntry {
    const { type, payload } = change;
    if (type !== 'FlagsChanged' || !(payload.others instanceof PackedIds)) return { type, payload };
    const { others, ...first } = payload;
    const packed = { first: row.octets / ID_OCTETS, count: 1 + others.length };
    const octets = packed.count * ID_OCTETS;
    this.#places.set(change, packed);
    this.#packed.push(uuidOctets(first.emailId), others.octets);
    this.#octets += octets;
    row.octets += octets;
    return { type, payload: first, packed };
  }
}

/** The entry with the ids of its other emails as texts. */
export function withIds({ type, payload, packed }: StoredEntry, ids: Uint8Array): Omit<StoredEntry, 'packed'> {
  if (packed === undefined) return { type, payload };
  const { first, count } = packed;
  const others = new PackedIds(ids.subarray((first + 1) * ID_OCTETS, (first + count) * ID_OCTETS));
  return { type, payload: { ...(payload as object), others: [...others] } };
}
