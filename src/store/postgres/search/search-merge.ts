// Merges segments of an account into one. Small segments are read and written by one statement each. Larger ones are streamed,
// page by page, into a segment that is not ready until one statement replaces the others by it.
import type { MergeOptions, MergeOutcome } from '../../search.js';
import { type IndexPage, levelOf } from '../../word-index/index-page.js';
import { mergedPages } from '../../word-index/merged-pages.js';
import { type BinaryColumn, inBinary } from '../driver/binary-results.js';
import { guarded, type Sql } from '../driver/client.js';
import { EMAILS_AT_ONCE, type LiveDocuments, liveDocuments } from './live-documents.js';
import { octetsOf, pageOfColumns, pageRows } from './page-rows.js';
import { discardLeft, NO_ID, segmentColumns, segmentRows } from './search-segments.js';
import { readSmallSegments } from './small-segments.js';

/** DUE segments of a level start a merge, which takes at most MOST. */
const DUE = 16;
const MOST = 256;
/** Octets of words and positions that are read at once. */
const FEW_OCTETS = 1024 * 1024;
/** Pages that are read at once, of all streamed segments together, and pages that are written at once. */
const PAGES_READ = 256;
const PAGES_WRITTEN = 64;
/** All segments are merged when they have more than this many times the emails of the mailbox. */
const WORN = 1.25;
const NOTHING: MergeOutcome = { segments: 0, emails: 0, octets: 0, mayBeMore: false };

interface Input {
  readonly id: number;
  readonly level: number;
  readonly emails: number;
  readonly lastId: string;
  readonly octets: number;
  readonly isPaged: boolean;
  readonly isReady: boolean;
}

export async function mergeSegments(sql: Sql, accountId: string, options: MergeOptions): Promise<MergeOutcome> {
  const { live, signal } = options;
  const rows = await guarded(
    () => sql<Input[]>`
      select id::float8, level, emails, last_id as "lastId", octets::float8, words is null as "isPaged", is_ready as "isReady"
      from search_segments where account_id = ${accountId} order by id`,
  );
  // Segments of an interrupted merge, or of another node.
  const unready = rows.filter(({ isReady }) => !isReady).map(({ id }) => id);
  await discardLeft(sql, accountId, unready);
  const segments = rows.filter(({ isReady }) => isReady);
  const isWorn = live !== undefined && sum(segments.map(({ emails }) => emails)) > live * WORN;
  const inputs = isWorn && segments.length <= MOST ? segments : due(segments);
  if (inputs.length === 0) return NOTHING;
  const isSmall =
    sum(inputs.map((input) => input.octets)) <= FEW_OCTETS &&
    sum(inputs.map((input) => input.emails)) <= EMAILS_AT_ONCE;
  const ids = inputs.map(({ id }) => id);
  const small = isSmall ? await readSmallSegments(sql, accountId, ids) : undefined;
  const documents = isSmall ? small?.live : await liveDocuments(sql, accountId, inputs, signal);
  if (documents === undefined || (inputs.length === 1 && documents.isWhole)) return NOTHING;
  const merge = new Merge(sql, accountId, inputs, documents, signal);
  const octets = small === undefined ? await merge.streamed() : await merge.atOnce(small.pages);
  if (octets === undefined) return NOTHING;
  const { emails } = documents;
  const levels = segments.filter((segment) => !inputs.includes(segment)).map(({ level }) => level);
  if (emails > 0) levels.push(levelOf(emails));
  const mayBeMore = dueLevels(levels).length > 0;
  return { segments: inputs.length, emails, octets, mayBeMore };
}

/** The oldest segments of the lowest level that is due. */
function due(segments: readonly Input[]): readonly Input[] {
  const level = Math.min(...dueLevels(segments.map((segment) => segment.level)));
  const inputs: Input[] = [];
  let octets = 0;
  for (const segment of segments) {
    if (segment.level !== level) continue;
    if (inputs.length === MOST || (inputs.length >= DUE && octets + segment.octets > FEW_OCTETS)) break;
    inputs.push(segment);
    octets += segment.octets;
  }
  return inputs;
}

class Merge {
  readonly #sql: Sql;
  readonly #accountId: string;
  readonly #inputs: readonly Input[];
  readonly #ids: readonly number[];
  readonly #live: LiveDocuments;
  readonly #signal: AbortSignal;

  constructor(sql: Sql, accountId: string, inputs: readonly Input[], live: LiveDocuments, signal: AbortSignal) {
    this.#sql = sql;
    this.#accountId = accountId;
    this.#inputs = inputs;
    this.#ids = inputs.map(({ id }) => id);
    this.#live = live;
    this.#signal = signal;
  }

  /** Returns the octets of the new segment; undefined when another merge has taken its inputs. `pages`: of each input. */
  async atOnce(pages: readonly (readonly IndexPage[])[]): Promise<number | undefined> {
    const merged: IndexPage[] = [];
    for await (const page of mergedPages(this.#sources((_, i) => pages[i]!))) merged.push(page);
    return (await this.#replace(merged)) ? octetsOf(merged) : undefined;
  }

  async streamed(): Promise<number | undefined> {
    if (this.#live.emails === 0) return (await this.#replace([])) ? 0 : undefined;
    const output = await this.#begin();
    if (output === undefined) return undefined;
    let octets: number | undefined;
    try {
      octets = await this.#writeTo(output);
    } finally {
      const left = octets === undefined ? [output] : this.#inputs.filter(({ isPaged }) => isPaged).map(({ id }) => id);
      await discardLeft(this.#sql, this.#accountId, left);
    }
    return octets;
  }

  #sources(pages: (input: Input, i: number) => AsyncIterable<IndexPage> | Iterable<IndexPage>) {
    return this.#inputs.map((input, i) => {
      const docMap = this.#live.docMaps[i];
      return { pages: pages(input, i), emails: input.emails, ...(docMap && { docMap }) };
    });
  }

  /** Replaces the inputs by one segment. Returns false when they no longer exist. */
  async #replace(pages: readonly IndexPage[]): Promise<boolean> {
    const [sql, accountId] = [this.#sql, this.#accountId];
    const { ids, emails } = this.#live;
    const segment = { accountId, ids, emails, lastId: this.#lastId(), pages };
    const added = sql`
      , added as (
        insert into search_segments (${segmentColumns(sql)})
        select * from ${segmentRows(sql, [segment])} where exists (select from whole)
        returning id
      )`;
    const addedPages = sql`
      , added_pages as (
        insert into search_pages (account_id, segment, first_word, part, words, positions)
        select ${accountId}, added.id, first_word, part, page.words, page.positions from added cross join ${pageRows(sql, pages)}
      )`;
    const rows = await guarded(
      () => sql`
        with ${this.#locked()}, account as materialized (
          select id from accounts where id = ${accountId} for key share skip locked
        ), whole as materialized (
          select from account where (select count(*) from locked) = ${this.#ids.length}
        ) ${emails > 0 ? added : sql``} ${pages.length > 1 ? addedPages : sql``}, gone as (
          delete from search_segments
          where account_id = ${accountId} and id = any(${this.#ids as number[]}::bigint[]) and exists (select from whole)
        ), gone_pages as (
          delete from search_pages
          where account_id = ${accountId} and segment = any(${this.#ids as number[]}::bigint[]) and exists (select from whole)
        )
        select from whole`,
    );
    return rows.length > 0;
  }

  /** Creates the segment for the pages; returns undefined when the account is being deleted. */
  async #begin(): Promise<number | undefined> {
    const sql = this.#sql;
    const [row] = await guarded(
      () => sql<{ id: number }[]>`
        with account as materialized (
          select id from accounts where id = ${this.#accountId} for key share skip locked
        )
        insert into search_segments (account_id, level, emails, last_id, ids, octets, is_ready)
        select id, 0, 0, ${NO_ID}, '', 0, false from account returning id::float8`,
    );
    return row?.id;
  }

  async #writeTo(output: number): Promise<number | undefined> {
    let octets = 0;
    let pages: IndexPage[] = [];
    for await (const page of mergedPages(this.#sources((input) => this.#pagesOf(input)))) {
      pages.push(page);
      if (pages.length < PAGES_WRITTEN) continue;
      if (!(await this.#write(output, pages))) return undefined;
      octets += octetsOf(pages);
      pages = [];
    }
    if (pages.length > 0 && !(await this.#write(output, pages))) return undefined;
    octets += octetsOf(pages);
    return (await this.#finish(output, octets)) ? octets : undefined;
  }

  async *#pagesOf({ id, isPaged }: Input): AsyncGenerator<IndexPage> {
    const [sql, accountId] = [this.#sql, this.#accountId];
    if (!isPaged) {
      const rows: readonly BinaryColumn[][] = await guarded(() =>
        sql`
          select ''::bytea, 0, words, positions from search_segments
          where ${inBinary(sql)} and account_id = ${accountId} and id = ${id}`.raw(),
      );
      yield* rows.map(pageOfColumns);
      return;
    }
    const limit = Math.max(2, Math.floor(PAGES_READ / this.#inputs.length));
    for (let word = '', part = -1; ; ) {
      const rows: readonly BinaryColumn[][] = await guarded(() =>
        sql`
          select first_word, part, words, positions from search_pages
          where ${inBinary(sql)} and account_id = ${accountId} and segment = ${id}
            and (first_word, part) > (${Buffer.from(word, 'latin1')}, ${part})
          order by first_word, part limit ${limit}`.raw(),
      );
      const pages = rows.map(pageOfColumns);
      yield* pages;
      if (pages.length < limit) return;
      ({ firstWord: word, part } = pages.at(-1)!);
    }
  }

  /** Returns false when the segment no longer exists. */
  async #write(output: number, pages: readonly IndexPage[]): Promise<boolean> {
    this.#signal.throwIfAborted();
    const sql = this.#sql;
    const rows = await guarded(
      () => sql`
        with segment as materialized (
          select id from search_segments
          where account_id = ${this.#accountId} and id = ${output} and not is_ready and emails = 0 for share
        ), added as (
          insert into search_pages (account_id, segment, first_word, part, words, positions)
          select ${this.#accountId}, segment.id, first_word, part, words, positions from segment cross join ${pageRows(sql, pages)}
        )
        select from segment`,
    );
    return rows.length > 0;
  }

  /** Deletes inputs of one page at once; the others are deleted with their pages afterwards. */
  async #finish(output: number, octets: number): Promise<boolean> {
    this.#signal.throwIfAborted();
    const [sql, accountId] = [this.#sql, this.#accountId];
    const { ids, emails } = this.#live;
    const inputs = sql`account_id = ${accountId} and id = any(${this.#ids as number[]}::bigint[]) and exists (select from ready)`;
    const rows = await guarded(
      () => sql`
        with ${this.#locked()}, ready as (
          update search_segments set is_ready = true, level = ${levelOf(emails)}, emails = ${emails}, ids = ${ids},
            last_id = ${this.#lastId()}, octets = ${octets}
          where account_id = ${accountId} and id = ${output} and not is_ready and emails = 0
            and (select count(*) from locked) = ${this.#ids.length}
          returning id
        ), retired as (
          update search_segments set is_ready = false where ${inputs} and words is null
        ), gone as (
          delete from search_segments where ${inputs} and words is not null
        )
        select from ready`,
    );
    return rows.length > 0;
  }

  #locked() {
    return this.#sql`locked as materialized (
      select id from search_segments
      where account_id = ${this.#accountId} and id = any(${this.#ids as number[]}::bigint[]) and is_ready
      order by id for update
    )`;
  }

  /** The greatest id of the inputs. */
  #lastId(): string {
    return this.#inputs
      .map(({ lastId }) => lastId)
      .sort()
      .at(-1)!;
  }
}

function dueLevels(levels: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const level of levels) counts.set(level, (counts.get(level) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= DUE).map(([level]) => level);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
