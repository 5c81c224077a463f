// Which emails of segments a merge keeps: those that are still there, each once.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { guarded, type Sql } from './client.js';
import { IdSet } from './id-set.js';
import { Octets } from './octet-parameters.js';

const ID_OCTETS = 16;
/** Emails that are looked for by one statement. */
const EMAILS_AT_ONCE = 5_000;

export interface Kept {
  /** Of each segment, for each email its ordinal among those that are kept, or -1; undefined when all are. */
  readonly ordinals: readonly (Int32Array | undefined)[];
  /** 16 octets each, segment after segment. */
  readonly ids: Uint8Array;
  readonly emails: number;
  /** Whether all are kept. */
  readonly isWhole: boolean;
}

/** Undefined when a segment is gone. */
export async function keptEmails(
  sql: Sql,
  accountId: string,
  segments: readonly { readonly id: number; readonly emails: number }[],
  signal: AbortSignal,
): Promise<Kept | undefined> {
  const set = new IdSet();
  const ordinals: (Int32Array | undefined)[] = [];
  for (const { id } of segments) {
    const [row] = await guarded(
      () => sql<{ ids: Uint8Array }[]>`
        select ids from search_segments where account_id = ${accountId} and id = ${id} and is_ready`,
    );
    if (row === undefined) return undefined;
    ordinals.push(await keptOf(row.ids));
  }
  return { ordinals, ids: set.octets(), emails: set.size, isWhole: ordinals.every((each) => each === undefined) };

  async function keptOf(ids: Uint8Array): Promise<Int32Array | undefined> {
    const emails = ids.length / ID_OCTETS;
    const kept = new Int32Array(emails);
    let count = 0;
    for (let from = 0; from < emails; from += EMAILS_AT_ONCE) {
      signal.throwIfAborted();
      const to = Math.min(emails, from + EMAILS_AT_ONCE);
      const gone = await goneOf(ids.subarray(from * ID_OCTETS, to * ID_OCTETS));
      for (let i = from; i < to; i++) kept[i] = !gone.has(i - from) && set.add(ids, i * ID_OCTETS) ? count++ : -1;
      await nextTurn();
    }
    return count === emails ? undefined : kept;
  }

  /** Numbers of the emails that are not there. One look-up each: as a join, planned while the table was small, it may read all of them. */
  async function goneOf(ids: Uint8Array): Promise<ReadonlySet<number>> {
    const rows = await guarded(
      () => sql<{ n: number }[]>`
        select n from generate_series(0, ${ids.length / ID_OCTETS - 1}::int) n
        where (select true from emails where account_id = ${accountId}
          and id = encode(substring(${new Octets([ids])}::bytea from n * ${ID_OCTETS} + 1 for ${ID_OCTETS}), 'hex')::uuid) is null`,
    );
    return new Set(rows.map(({ n }) => n));
  }
}
