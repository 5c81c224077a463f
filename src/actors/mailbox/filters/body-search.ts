// Searches a body for the texts and expressions of filters. Other work of the node has a turn after each piece of the text and after each
// expression: neither a long body nor an expression that is slow holds the event loop.
import { setImmediate } from 'node:timers/promises';
import { lruCache } from '../../../concurrency/lru-cache.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import { compilePattern, MOST_SEARCHED, type SafePattern } from '../../../mail-format/words/safe-pattern.js';
import type { Conditions, SearchedBody } from './filter-match.js';

/** Characters of a body that are searched before the event loop gets a turn. */
const PIECE = 256 * 1024;
/** The most characters that folding may turn one letter into. */
const CHARACTERS_A_LETTER = 4;
/** The most expressions that are kept compiled, for all mailboxes of the node. */
const MOST_COMPILED = 500;

const compiled = lruCache<string, { readonly pattern?: SafePattern }>(MOST_COMPILED);

/** The text of a body, and whether it is the whole body. */
export interface BodyStart {
  readonly text: string;
  readonly isWhole: boolean;
}

export async function searchBody(
  { text, isWhole }: BodyStart,
  subject: string,
  asking: readonly Conditions[],
): Promise<SearchedBody> {
  const wanted = new Set(asking.flatMap(({ bodyContains }) => bodyContains ?? []));
  const found = wanted.size === 0 ? wanted : await textsIn(text, [...wanted]);
  const patterns = new Map<string, boolean>();
  const start = `${subject}\n${text.slice(0, MOST_SEARCHED)}`;
  for (const { matches } of asking) {
    if (matches === null || patterns.has(matches)) continue;
    patterns.set(matches, patternOf(matches)?.isFoundIn(start) ?? false);
    await setImmediate();
  }
  return { texts: new Map([...wanted].map((part) => [part, found.has(part)])), patterns, isWhole };
}

/** Undefined when it cannot be compiled: the command that sets an expression refuses those. */
function patternOf(expression: string): SafePattern | undefined {
  let known = compiled.get(expression);
  if (known === undefined) {
    const result = compilePattern(expression);
    known = 'pattern' in result ? result : {};
    compiled.set(expression, known);
  }
  return known.pattern;
}

/** Returns the conditions whose text the body contains, without regard to case. */
async function textsIn(text: string, conditions: readonly string[]): Promise<ReadonlySet<string>> {
  const wanted = new Map(conditions.map((condition) => [condition, caseFolded(condition)]));
  // Pieces overlap, so that words across the end of a piece are found in it.
  const overlap = CHARACTERS_A_LETTER * Math.max(0, ...[...wanted.values()].map(({ length }) => length));
  const found = new Set<string>();
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = caseFolded(text.slice(at, at + PIECE + overlap));
    for (const [condition, folded] of wanted) if (piece.includes(folded)) found.add(condition);
    await setImmediate();
  }
  return found;
}
