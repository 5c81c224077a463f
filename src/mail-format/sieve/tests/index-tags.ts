// `:index` and `:last` (RFC 5260 §6): a test looks at one field among those that it names.
import type { Arguments, Tags } from '../arguments.js';
import type { Compilation } from '../compilation.js';
import { SieveError } from '../syntax.js';

export const INDEX_TAGS: Tags = {
  index: { value: 'number', needs: ['index'] },
  last: { needs: ['index'] },
};

export interface Index {
  /** Counts from 1. */
  readonly number: number;
  readonly fromLast: boolean;
}

/** Undefined: the test looks at all. @throws SieveError */
export function indexOf(given: Arguments): Index | undefined {
  const number = given.numberOf('index');
  if (number === undefined) {
    if (given.has('last')) throw new SieveError(given.positionOf('last'), ':last stands with :index');
    return undefined;
  }
  if (number < 1) throw new SieveError(given.positionOf('index'), ':index counts from 1');
  return { number, fromLast: given.has('last') };
}

export function chosen<Item>(items: readonly Item[], index: Index | undefined): readonly Item[] {
  if (index === undefined) return items;
  const item = items[index.fromLast ? items.length - index.number : index.number - 1];
  return item === undefined ? [] : [item];
}

/** Names of header fields that a test takes: constants must be valid (RFC 5228 §2.4.2.2). @throws SieveError */
export function checkFieldNames(given: Arguments, i: number, compilation: Compilation): void {
  for (const node of given.nodes(i)) {
    if (typeof compilation.text(node) !== 'string') continue;
    if (!FIELD_NAME.test(node.text))
      throw new SieveError(node.at, `"${node.text.slice(0, 80)}" is no name of a header field`);
  }
}

export const FIELD_NAME = /^[!-9;-~]+$/;
