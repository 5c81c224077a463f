// SieveMatch types and comparators of tests (RFC 5228 §2.7, RFC 5231): read from the arguments of a test, then applied to values and keys.
import type { Arguments, Tags } from './arguments.js';
import { type Comparator, fold, isComparator, order } from './comparators.js';
import type { Compilation } from './compilation.js';
import type { Run } from './run.js';
import { SieveError } from './syntax.js';
import type { Text } from './text.js';
import { matchPattern, type Pattern, patternOf } from './wildcards.js';

export const MATCH_TAGS: Tags = {
  comparator: { value: 'string' },
  is: { group: 'match type' },
  contains: { group: 'match type' },
  matches: { group: 'match type' },
  value: { group: 'match type', value: 'string', needs: ['relational'] },
  count: { group: 'match type', value: 'string', needs: ['relational'] },
};

const RELATIONS = {
  gt: (order: number) => order > 0,
  ge: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  le: (order: number) => order <= 0,
  eq: (order: number) => order === 0,
  ne: (order: number) => order !== 0,
} as const;

type Relation = (typeof RELATIONS)[keyof typeof RELATIONS];

/** How a test compares. */
export interface SieveMatch {
  readonly type: 'is' | 'contains' | 'matches' | 'value' | 'count';
  readonly comparator: Comparator;
  readonly relation: Relation;
  /** Matches of wildcards are kept for variables. */
  readonly isKept: boolean;
}

/** @throws SieveError */
export function matchOf(given: Arguments, compilation: Compilation): SieveMatch {
  const type = given.oneOf(['is', 'contains', 'matches', 'value', 'count']) ?? 'is';
  const comparator = comparatorOf(given, compilation);
  if (comparator === 'i;ascii-numeric' && (type === 'contains' || type === 'matches')) {
    throw new SieveError(given.positionOf(type), `the comparator i;ascii-numeric has no :${type}`);
  }
  const relation = relationOf(given, compilation, type);
  return { type, comparator, relation, isKept: compilation.has('variables') };
}

function comparatorOf(given: Arguments, compilation: Compilation): Comparator {
  const node = given.nodeOf('comparator');
  if (node === undefined) return 'i;ascii-casemap';
  const name = compilation.constant(node, 'the name of a comparator');
  if (!isComparator(name)) throw new SieveError(node.at, `the comparator "${name}" is not supported`);
  if (name === 'i;ascii-numeric') compilation.needs(['comparator-i;ascii-numeric'], node.at, 'this comparator');
  return name;
}

function relationOf(given: Arguments, compilation: Compilation, type: string): Relation {
  const node = given.nodeOf(type);
  if (node === undefined) return RELATIONS.eq;
  const name = compilation.constant(node, `the relation of :${type}`).toLowerCase();
  if (!Object.hasOwn(RELATIONS, name)) {
    throw new SieveError(node.at, `:${type} takes "gt", "ge", "lt", "le", "eq" or "ne"`);
  }
  return RELATIONS[name as keyof typeof RELATIONS];
}

/**
 * Whether a value matches a key. `:count` compares the number of values; the others look at values one after the other, which may be made
 * only when they are looked at. @throws SieveError when the run has used up its steps
 */
export function isMatch(run: Run, match: SieveMatch, values: Iterable<string>, keys: readonly Text[]): boolean {
  const given = run.texts(keys);
  if (match.type === 'count') {
    const count = String([...values].length);
    return given.some((key) => match.relation(order(match.comparator, count, key)));
  }
  const compares = given.map((key) => comparing(run, match, key));
  for (const value of values) {
    if (compares.some((compare) => compare(value))) return true;
  }
  return false;
}

function comparing(
  run: Run,
  { type, comparator, relation, isKept }: SieveMatch,
  key: string,
): (value: string) => boolean {
  if (type === 'matches') {
    run.spend(key.length);
    const pattern = patternOf(fold(comparator, key));
    return (value) => matches(run, pattern, comparator, value, isKept);
  }
  if (type === 'contains') {
    const folded = fold(comparator, key);
    return (value) => {
      // The search for a long text may go back over it.
      run.spend(value.length * (1 + (key.length >> 6)));
      return run.compared(value, comparator).folded.includes(folded);
    };
  }
  return (value) => {
    run.spend(value.length + key.length);
    if (type === 'value') return relation(order(comparator, value, key));
    if (comparator === 'i;ascii-numeric') return order(comparator, value, key) === 0;
    return value.length === key.length && fold(comparator, value) === fold(comparator, key);
  };
}

function matches(run: Run, pattern: Pattern, comparator: Comparator, value: string, isKept: boolean): boolean {
  run.spend(value.length);
  const { characters, foldedCharacters } = run.compared(value, comparator);
  const found = matchPattern(pattern, foldedCharacters, characters, (count) => run.spend(count));
  if (found === undefined) return false;
  if (isKept) run.setMatched([value, ...found]);
  return true;
}
