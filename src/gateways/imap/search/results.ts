// Formats the result of a search as requested: the untagged SEARCH or ESEARCH (RFC 9051 §7.3.4, RFC 4731, RFC 9394,
// RFC 7162 §3.1.5), and selects what SAVE keeps (RFC 5182).
import type { ResultPage } from '../grammar/result-page.js';
import type { SearchReturn } from '../grammar/search.js';
import { uidSet } from '../wire/format.js';

/** Positions in the view, in the order of the result: ascending, or sorted. */
export type FoundPositions = Uint32Array;

export interface ResultForm {
  readonly tag: string;
  readonly isUid: boolean;
  readonly returns: readonly SearchReturn[];
  /** Returns the UID or sequence number of a position. */
  numberOf(position: number): number;
  /** Set when the search has a key MODSEQ. */
  readonly modseqOf: ((position: number) => number) | undefined;
}

function pageOf(returns: readonly SearchReturn[]): ResultPage | undefined {
  for (const option of returns) if (typeof option !== 'string') return option.partial;
  return undefined;
}

/** Returns the results on the page, in their order; negative places count from the end. */
function onPage(found: FoundPositions, { from, to }: ResultPage): FoundPositions {
  if (from > 0) return found.subarray(from - 1, to);
  return found.subarray(Math.max(0, found.length + to), Math.max(0, found.length + from + 1));
}

/** Returns undefined when SAVE is the only option, which has no response. */
export function esearch(found: FoundPositions, form: ResultForm): string | undefined {
  const { tag, isUid, returns, numberOf, modseqOf } = form;
  if (returns.every((option) => option === 'SAVE') && returns.length > 0) return undefined;
  const has = (option: SearchReturn) => returns.includes(option);
  const page = pageOf(returns);
  const setOf = (positions: FoundPositions) => uidSet(positions.map(numberOf));
  let line = `* ESEARCH (TAG "${tag}")`;
  if (isUid) line += ' UID';
  if (found.length > 0) {
    if (has('MIN')) line += ` MIN ${numberOf(found[0]!)}`;
    if (has('MAX')) line += ` MAX ${numberOf(found.at(-1)!)}`;
    if (has('ALL')) line += ` ALL ${setOf(found)}`;
  }
  if (has('COUNT')) line += ` COUNT ${found.length}`;
  if (page !== undefined) line += ` PARTIAL (${page.from}:${page.to} ${setOf(onPage(found, page)) || 'NIL'})`;
  if (modseqOf !== undefined) {
    const modseq = highest(reported(found, returns), modseqOf);
    if (modseq > 0) line += ` MODSEQ ${modseq}`;
  }
  return line;
}

/** Returns the response to a command without RETURN. */
export function plainResult(name: 'SEARCH' | 'SORT', found: FoundPositions, form: Omit<ResultForm, 'returns'>): string {
  let line = `* ${name}`;
  for (let i = 0; i < found.length; i++) line += ` ${form.numberOf(found[i]!)}`;
  const modseq = form.modseqOf === undefined ? 0 : highest(found, form.modseqOf);
  return modseq > 0 ? `${line} (MODSEQ ${modseq})` : line;
}

/** Returns what `$` means after a search with SAVE: all results, unless only MIN, MAX or PARTIAL were requested. */
export function savedPositions(found: FoundPositions, returns: readonly SearchReturn[]): number[] {
  return [...reported(found, returns)].sort((a, b) => a - b);
}

/** Returns the results that the response names, each once; all of them when it counts or lists all, or names none. */
function reported(found: FoundPositions, returns: readonly SearchReturn[]): ReadonlySet<number> | FoundPositions {
  const page = pageOf(returns);
  const hasSome = page !== undefined || returns.includes('MIN') || returns.includes('MAX');
  if (!hasSome || returns.includes('ALL') || returns.includes('COUNT')) return found;
  const some = new Set<number>(page === undefined ? [] : onPage(found, page));
  if (found.length > 0 && returns.includes('MIN')) some.add(found[0]!);
  if (found.length > 0 && returns.includes('MAX')) some.add(found.at(-1)!);
  return some;
}

function highest(positions: Iterable<number>, modseqOf: (position: number) => number): number {
  let modseq = 0;
  for (const position of positions) modseq = Math.max(modseq, modseqOf(position));
  return modseq;
}
