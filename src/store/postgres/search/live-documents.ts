// Live documents: the emails that a merge of segments keeps, which are those that still exist, each once.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BinaryColumn, inBinary } from '../driver/binary-results.js';
import { guarded, type Sql } from '../driver/client.js';
import { ID_OCTETS, IdSet } from '../driver/id-set.js';
import { Octets } from '../driver/octet-parameters.js';

/** One statement looks up this many emails. */
export const EMAILS_AT_ONCE = 5_000;

export interface LiveDocuments {
  /** The new docId of each email, by segment; -1 when it is not live, undefined when all are live. */
  readonly docMaps: readonly (Int32Array | undefined)[];
  /** 16 octets each, segment after segment. */
  readonly ids: Uint8Array;
  readonly emails: number;
  /** Whether all emails are live. */
  readonly isWhole: boolean;
}

/** Goes through the emails of segments, segment by segment. */
export class LiveDocumentsBuilder {
  readonly #set = new IdSet();
  readonly #docMaps: (Int32Array | undefined)[] = [];
  #live = new Int32Array(0);
  #count = 0;

  begin(emails: number): void {
    this.#live = new Int32Array(emails);
    this.#count = 0;
  }

  /** Adds emails of the segment, starting at number `first`. `gone`: numbers within `ids`. */
  add(first: number, ids: Uint8Array, gone: readonly number[]): void {
    const [set, live] = [this.#set, this.#live];
    const isGone = new Set(gone);
    for (let i = 0; i * ID_OCTETS < ids.length; i++) {
      const isLive = !isGone.has(i) && set.add(ids, i * ID_OCTETS);
      live[first + i] = isLive ? this.#count++ : -1;
    }
  }

  end(): void {
    this.#docMaps.push(this.#count === this.#live.length ? undefined : this.#live);
  }

  result(): LiveDocuments {
    const [set, docMaps] = [this.#set, this.#docMaps];
    return { docMaps, ids: set.octets(), emails: set.size, isWhole: docMaps.every((each) => each === undefined) };
  }
}

/** Returns undefined when a segment is gone. */
export async function liveDocuments(
  sql: Sql,
  accountId: string,
  segments: readonly { readonly id: number; readonly emails: number }[],
  signal: AbortSignal,
): Promise<LiveDocuments | undefined> {
  const live = new LiveDocumentsBuilder();
  for (const { id, emails } of segments) {
    const rows: readonly BinaryColumn[][] = await guarded(() =>
      sql`
        select ids from search_segments where ${inBinary(sql)} and account_id = ${accountId} and id = ${id} and is_ready`.raw(),
    );
    const all = rows[0]?.[0];
    if (!all) return undefined;
    live.begin(emails);
    for (let first = 0; first < emails; first += EMAILS_AT_ONCE) {
      signal.throwIfAborted();
      const ids = all.subarray(first * ID_OCTETS, (first + EMAILS_AT_ONCE) * ID_OCTETS);
      live.add(first, ids, await goneOf(ids));
      await nextTurn();
    }
    live.end();
  }
  return live.result();

  /**
   * Numbers of the emails that no longer exist. Each is looked up separately: a join, planned while the table was small, may read
   * the whole table.
   */
  async function goneOf(ids: Uint8Array): Promise<readonly number[]> {
    const rows = await guarded(
      () => sql<{ n: number }[]>`
        select n from generate_series(0, ${ids.length / ID_OCTETS - 1}::int) n
        where (select true from emails where account_id = ${accountId}
          and id = encode(substring(${new Octets([ids])}::bytea from n * ${ID_OCTETS} + 1 for ${ID_OCTETS}), 'hex')::uuid) is null`,
    );
    return rows.map(({ n }) => n);
  }
}
