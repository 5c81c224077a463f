// Pages of the word index as rows.
import type { IndexPage } from '../../word-index/index-page.js';
import { binaryArray } from '../driver/binary-array.js';
import { type BinaryColumn, integerOf } from '../driver/binary-results.js';
import type { Fragment, Sql } from '../driver/client.js';

export const NO_OCTETS = new Uint8Array(0);

export interface PageRow {
  /** Null for the only page of a segment. */
  readonly firstWord: Buffer | null;
  readonly part: number;
  readonly words: Uint8Array | null;
  /** Null when they were not requested. */
  readonly positions: Uint8Array | null;
}

export function pageOf({ firstWord, part, words, positions }: PageRow): IndexPage {
  return {
    firstWord: firstWord?.toString('latin1') ?? '',
    part,
    words: words ?? NO_OCTETS,
    positions: positions ?? NO_OCTETS,
  };
}

/** Makes a page of the binary columns `first_word, part, words, positions`. */
export function pageOfColumns([firstWord, part, words, positions]: readonly BinaryColumn[]): IndexPage {
  return pageOf({ firstWord: firstWord!, part: integerOf(part!)!, words: words!, positions: positions! });
}

/** Rows of pages, with the columns `first_word, part, words, positions`. */
export function pageRows(sql: Sql, pages: readonly IndexPage[]): Fragment {
  return sql`
    unnest(${binaryArray(pages.map(({ firstWord }) => Buffer.from(firstWord, 'latin1')))}::bytea[],
      ${pages.map(({ part }) => part)}::int[], ${binaryArray(pages.map(({ words }) => words))}::bytea[],
      ${binaryArray(pages.map(({ positions }) => positions))}::bytea[]
    ) with ordinality as page (first_word, part, words, positions, n)`;
}

/** Octets of the words and positions of pages. */
export const octetsOf = (pages: readonly IndexPage[]): number =>
  pages.reduce((sum, { words, positions }) => sum + words.length + positions.length, 0);
