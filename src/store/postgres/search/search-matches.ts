// Finds the emails that contain the words of a search. The pages that may contain them come from the database, segment by segment
// in the order of their ids. A segment that disappears meanwhile was merged into one with a greater id, so a search that
// continues after it misses nothing and needs no snapshot.
import type { SearchTerm } from '../../../mail-format/words/search-text.js';
import { StoreFault } from '../../errors.js';
import { type FoundEmails, type SearchPart, SearchTooLarge } from '../../search.js';
import type { IndexPage } from '../../word-index/index-page.js';
import { type LookupPages, WordQuery } from '../../word-index/word-query.js';
import { binaryArray } from '../driver/binary-array.js';
import { doubleOf, inBinary, integerOf, own } from '../driver/binary-results.js';
import { guarded, type Sql } from '../driver/client.js';
import { NO_OCTETS, octetsOf, type PageRow, pageOf, pageOfColumns } from './page-rows.js';
import { ResultSet } from './result-set.js';
import { type CachedSegment, SegmentCache } from './segment-cache.js';

/** One statement searches this many segments. */
const SEGMENTS = 64;
/** The first statement returns at most this many pages per word or prefix of a segment, and of all words together. */
const PAGES = 16;
const PAGES_OF_ALL = 128;
/** Most words have one page; a result with fewer pages than this is complete. */
const FEWEST_PAGES = 2;
/** Each following statement returns this many pages. */
const MORE_PAGES = 64;

export interface SearchLimits {
  /** Time from the start of a search, after which no statement begins. */
  readonly ms: number;
  /** Octets of pages that one statement returns for segments of several pages. */
  readonly statementOctets: number;
  /** Octets of the pages of whole words of one segment, which are in memory together. */
  readonly memoryOctets: number;
}

const LIMITS: SearchLimits = { ms: 10_000, statementOctets: 8 * 1024 * 1024, memoryOctets: 64 * 1024 * 1024 };

/**
 * A row of a result: a segment, or a page of a lookup in a segment; its words are null when the pages are more than one statement
 * returns.
 */
interface Row extends PageRow {
  readonly id: number;
  readonly emails: number | null;
  readonly ids: Uint8Array | null;
  readonly lookup: number | null;
}

interface Matched {
  readonly docIds: Uint32Array;
  /** Undefined when they must be read. */
  readonly ids: Uint8Array | undefined;
}

interface Question {
  readonly accountId: string;
  readonly after: string | undefined;
  readonly query: WordQuery;
  /** A word after all that are searched, by lookup. */
  readonly ends: readonly string[];
  readonly pages: number;
  /** Runs a statement if there is time left. */
  ask<T>(statement: () => PromiseLike<T>): Promise<T>;
}

export class SegmentMatches {
  readonly #sql: Sql;
  readonly #limits: SearchLimits;
  readonly #segmentCache = new SegmentCache();

  constructor(sql: Sql, some?: Partial<SearchLimits>) {
    this.#sql = sql;
    this.#limits = { ...LIMITS, ...some };
  }

  async find(accountId: string, terms: readonly SearchTerm[], part: SearchPart, after?: string): Promise<FoundEmails> {
    const query = new WordQuery(terms, part);
    const { lookups } = query;
    const ends = lookups.map(({ word, isPrefix }) => (isPrefix ? nextPrefix(word) : `${word}\0`));
    const pages = Math.max(FEWEST_PAGES, Math.min(PAGES, Math.floor(PAGES_OF_ALL / lookups.length)));
    const question = { accountId, after, query, ends, pages, ask: this.#asker() };
    const found = new ResultSet(after);
    const ready = new Set<number>();
    let most = SEGMENTS;
    for (let last = 0; ; ) {
      const known = this.#segmentCache.of(accountId);
      const isWhole = ({ page, hasPositions }: CachedSegment) =>
        page !== undefined && (hasPositions || !query.needsPositions);
      const whole = [...known.values()].filter(isWhole).map(({ id }) => id);
      const rows = await this.#rowsAfter(question, last, most, whole);
      const pagesOf = bySegment(rows, lookups.length);
      const matched = new Map<number, Matched>();
      const gone: number[] = [];
      let count = 0;
      let isCut = false;
      for (const row of rows) {
        if (row.emails === null) continue;
        const pages = pagesOf.get(row.id) ?? [];
        // The next statement begins with this segment.
        isCut = count > 0 && pages.some((some) => some.some(isLeftOut));
        if (isCut) break;
        const segment = row.words === null ? known.get(row.id) : wholeSegment(row.id, row);
        if (row.words !== null) this.#segmentCache.keep(accountId, segment!);
        const docIds = await this.#docIdsIn(question, row.id, row.emails, segment?.page, pages);
        if (docIds === undefined) gone.push(row.id);
        else if (docIds.length > 0) matched.set(row.id, { docIds, ids: segment?.ids });
        ready.add(row.id);
        last = row.id;
        count++;
      }
      gone.push(...(await this.#addIds(question, matched, found)));
      for (const id of gone) ready.delete(id);
      if (gone.length > 0) last = Math.min(...gone);
      else if (!isCut && count < most) break;
      if (isCut) most = count;
    }
    // Merged segments are no longer needed.
    if (after === undefined) this.#segmentCache.retain(accountId, ready);
    return { ids: await found.packed(), segments: ready.size };
  }

  #asker(): Question['ask'] {
    const until = performance.now() + this.#limits.ms;
    return async (statement) => {
      if (performance.now() >= until) throw tooSlow();
      return guarded(statement);
    };
  }

  async #rowsAfter(
    { accountId, after, query, ends, pages, ask }: Question,
    last: number,
    most: number,
    whole: readonly number[],
  ): Promise<Row[]> {
    const sql = this.#sql;
    const { lookups, needsPositions } = query;
    const positions = needsPositions ? sql`positions` : sql`null::bytea as positions`;
    const found = await ask(() =>
      sql`
      with segment as materialized (
        select id, emails, words is null as paged, ids, words, ${positions},
          id = any(${whole as number[]}::bigint[]) as known
        from search_segments where ${inBinary(sql)} and account_id = ${accountId} and id > ${last} and is_ready
          ${after === undefined ? sql`` : sql`and last_id > ${after}`}
        order by id limit ${most}
      ), page as (
        select s.id, w.n::int - 1 as lookup, p.*,
          sum(octet_length(p.words) + coalesce(octet_length(p.positions), 0))
            over (order by s.id, w.n, p.first_word, p.part) <= ${this.#limits.statementOctets} as comes
        from segment s cross join unnest(
          ${binaryArray(lookups.map(({ word }) => octets(word)))}::bytea[], ${binaryArray(ends.map(octets))}::bytea[]
        ) with ordinality as w (word, ending, n) cross join lateral (
          select first_word, part, words, ${positions} from search_pages
          where account_id = ${accountId} and segment = s.id and first_word < w.ending
            and first_word >= coalesce((select b.first_word from search_pages b
              where b.account_id = ${accountId} and b.segment = s.id and b.first_word <= w.word
              order by b.first_word desc limit 1), w.word)
            -- The rest of a long list of another word.
            and (part = 0 or first_word >= w.word)
          order by first_word, part limit ${pages}
        ) p
        where s.paged
      )
      select id::float8 as id, emails, case when not paged and not known then ids end as ids,
        null::int as lookup, null::bytea as "firstWord", 0 as part, case when not known then words end as words,
        case when not known then positions end as positions
      from segment
      union all
      select id::float8, null, null, lookup, first_word, part, case when comes then words end, case when comes then positions end
      from page
      order by id, lookup nulls first, "firstWord", part`.raw(),
    );
    return found.map(([id, emails, ids, lookup, firstWord, part, words, positions]) => ({
      id: doubleOf(id!)!,
      emails: integerOf(emails!),
      ids: ids!,
      lookup: integerOf(lookup!),
      firstWord: firstWord!,
      part: integerOf(part!)!,
      words: words!,
      positions: positions!,
    }));
  }

  /** Returns undefined when the segment is gone. `page`: the only page of the segment. */
  async #docIdsIn(
    question: Question,
    id: number,
    emails: number,
    page: IndexPage | undefined,
    rows: readonly (readonly Row[])[],
  ): Promise<Uint32Array | undefined> {
    const { query, accountId, ask } = question;
    if (page !== undefined)
      return query.matches(
        emails,
        query.lookups.map(() => [page]),
      );
    let isStreamed = false;
    let octets = 0;
    const pages = query.lookups.map(({ isPrefix }, lookup): LookupPages => {
      const some = rows[lookup] ?? [];
      const leftOut = some.find(isLeftOut);
      const first = (leftOut === undefined ? some : some.slice(0, some.indexOf(leftOut))).map(pageOf);
      // Pages of a prefix are read one at a time and not kept.
      const hold = (pages: readonly IndexPage[]) => {
        if (isPrefix) return;
        octets += octetsOf(pages);
        if (octets > this.#limits.memoryOctets) throw new SearchTooLarge('words');
      };
      hold(first);
      if (leftOut === undefined && some.length < question.pages) return first;
      isStreamed = true;
      return this.#streamed(question, id, lookup, first, leftOut, hold);
    });
    const docIds = await query.matches(emails, pages);
    if (!isStreamed) return docIds;
    // Pages are deleted only after their segment is no longer ready, so they were complete if it still is.
    const [left] = await ask(
      () => this.#sql`select from search_segments where account_id = ${accountId} and id = ${id} and is_ready`,
    );
    return left === undefined ? undefined : docIds;
  }

  /** `leftOut`: the page after `first`, when it is known. */
  async *#streamed(
    { accountId, query, ends, ask }: Question,
    segment: number,
    lookup: number,
    first: readonly IndexPage[],
    leftOut: Row | undefined,
    hold: (pages: readonly IndexPage[]) => void,
  ): AsyncGenerator<IndexPage> {
    const sql = this.#sql;
    yield* first;
    let last = first.at(-1);
    if (leftOut !== undefined) last = { ...pageOf(leftOut), part: leftOut.part - 1 };
    while (last !== undefined) {
      const { firstWord, part }: IndexPage = last;
      const rows = await ask(() =>
        sql`
          select first_word, part, words, ${query.needsPositions ? sql`positions` : sql`null::bytea`}
          from search_pages where ${inBinary(sql)} and account_id = ${accountId} and segment = ${segment}
            and (first_word, part) > (${octets(firstWord)}, ${part}) and first_word < ${octets(ends[lookup]!)}
          order by first_word, part limit ${MORE_PAGES}`.raw(),
      );
      const pages = rows.map(pageOfColumns);
      hold(pages);
      yield* pages;
      last = pages.at(-1);
    }
  }

  /** Returns the segments that are gone. */
  async #addIds(
    { accountId, ask }: Question,
    matched: ReadonlyMap<number, Matched>,
    found: ResultSet,
  ): Promise<readonly number[]> {
    const sql = this.#sql;
    const missing: number[] = [];
    for (const [id, { ids, docIds }] of matched) {
      if (ids === undefined) missing.push(id);
      else await found.add(ids, docIds);
    }
    if (missing.length === 0) return [];
    const rows = await ask(() =>
      sql`
        select id::float8, ids from search_segments where ${inBinary(sql)} and account_id = ${accountId} and id = any(${missing}::bigint[])`.raw(),
    );
    const read = new Set<number>();
    for (const [column, ids] of rows) {
      const id = doubleOf(column!)!;
      read.add(id);
      const segment = { id, ids: own(ids!), hasPositions: false };
      this.#segmentCache.keep(accountId, segment);
      await found.add(segment.ids, matched.get(id)!.docIds);
    }
    return missing.filter((id) => !read.has(id));
  }
}

function wholeSegment(id: number, { ids, words, positions }: Row): CachedSegment {
  const page = {
    firstWord: '',
    part: 0,
    words: own(words!),
    positions: positions === null ? NO_OCTETS : own(positions),
  };
  return { id, ids: own(ids!), page, hasPositions: positions !== null };
}

const octets = (word: string): Buffer => Buffer.from(word, 'latin1');

/** The pages of each segment, by lookup. */
function bySegment(rows: readonly Row[], lookups: number): ReadonlyMap<number, readonly (readonly Row[])[]> {
  const pages = new Map<number, Row[][]>();
  for (const row of rows) {
    if (row.lookup === null) continue;
    let ofSegment = pages.get(row.id);
    if (ofSegment === undefined) {
      ofSegment = Array.from({ length: lookups }, () => []);
      pages.set(row.id, ofSegment);
    }
    ofSegment[row.lookup]!.push(row);
  }
  return pages;
}

/** Whether the result left out the content of this page. */
const isLeftOut = ({ words }: Row): boolean => words === null;

function tooSlow(): StoreFault {
  return new StoreFault('store-unavailable', 'a search takes too much time', { temporary: true });
}

/** A word after all words with this prefix. UTF-8 does not use the greatest octet. */
function nextPrefix(word: string): string {
  return word.slice(0, -1) + String.fromCharCode(word.charCodeAt(word.length - 1) + 1);
}
