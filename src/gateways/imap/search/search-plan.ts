// The order in which the keys of a search are evaluated: first what the mirror knows, last the bodies of the
// messages that the keys before have left.
import type { SearchKey } from '../grammar/search.js';
import { bitOf, type ColumnDemands } from './searched-folder.js';

/** What a key needs, ordered by cost. */
export const COLUMNS = 0;
const FACTS = 1;
const HEADERS = 2;
const BODIES = 3;

type Leaf = Exclude<SearchKey, { readonly type: 'and' | 'or' | 'not' }>;

export type SearchPlan =
  | { readonly type: 'and'; readonly plans: readonly SearchPlan[]; readonly cost: number }
  /** The cheaper plan is `first`. */
  | { readonly type: 'or'; readonly first: SearchPlan; readonly second: SearchPlan; readonly cost: number }
  | { readonly type: 'not'; readonly plan: SearchPlan; readonly cost: number }
  | { readonly type: 'leaf'; readonly key: Leaf; readonly cost: number };

export function searchPlan(key: SearchKey): SearchPlan {
  if (key.type === 'and') {
    const plans = key.keys.map(searchPlan).sort((a, b) => a.cost - b.cost);
    return { type: 'and', plans, cost: plans.at(-1)?.cost ?? COLUMNS };
  }
  if (key.type === 'or') {
    const [left, right] = [searchPlan(key.left), searchPlan(key.right)];
    const [first, second] = left.cost <= right.cost ? [left, right] : [right, left];
    return { type: 'or', first, second, cost: second.cost };
  }
  if (key.type === 'not') {
    const plan = searchPlan(key.key);
    return { type: 'not', plan, cost: plan.cost };
  }
  return { type: 'leaf', key, cost: costOf(key) };
}

function costOf(key: Leaf): number {
  switch (key.type) {
    case 'all':
    case 'saveDateSupported':
    case 'set':
    case 'flag':
    case 'modseq':
      return COLUMNS;
    case 'larger':
    case 'smaller':
    case 'older':
    case 'younger':
    case 'emailId':
    case 'threadId':
      return FACTS;
    case 'day':
      return key.of === 'sent' ? HEADERS : FACTS;
    case 'header':
      return HEADERS;
    case 'body':
    case 'text':
      return BODIES;
  }
}

/** What the whole program needs from the columns, and how many texts it looks for. */
export interface SearchDemands extends ColumnDemands {
  readonly hasSequenceNumbers: boolean;
  /** The number of distinct texts of BODY and TEXT. */
  readonly texts: number;
}

export function demandsOf(plan: SearchPlan): SearchDemands {
  const bits = new Set<number>();
  const keywords = new Set<string>();
  const texts = new Set<string>();
  let hasModseq = false;
  let hasSequenceNumbers = false;
  const open = [plan];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.type === 'and') open.push(...next.plans);
    else if (next.type === 'or') open.push(next.first, next.second);
    else if (next.type === 'not') open.push(next.plan);
    else if (next.key.type === 'flag') {
      const bit = bitOf(next.key.name);
      if (bit === 0) keywords.add(next.key.name);
      else bits.add(bit);
    } else if (next.key.type === 'modseq') hasModseq = true;
    else if (next.key.type === 'set' && !next.key.isByUid && next.key.set !== '$') hasSequenceNumbers = true;
    else if (next.key.type === 'body' || next.key.type === 'text') texts.add(`${next.key.type} ${next.key.text}`);
  }
  return { bits, keywords, hasModseq, hasSequenceNumbers, texts: texts.size };
}

/** Tells whether the key names messages by sequence number. */
export const hasSequenceNumbers = (key: SearchKey): boolean => demandsOf(searchPlan(key)).hasSequenceNumbers;
