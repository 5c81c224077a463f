// Decides what an account's filters do with an email. Conditions are substrings of the sender's address, the subject and the body's words,
// without regard to case. All must hold; a condition that is not set holds. Pure.
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { FilterRow } from '../../../store/mailboxes.js';

export interface ReadBody {
  readonly text: string;
  /** False: the text is only the start of the body. */
  readonly isWhole: boolean;
}

/** The facts that filters look at. `body` is null when it was not read; conditions on it are then undecided. */
export interface EmailFacts {
  readonly fromAddress: string;
  readonly subject: string;
  readonly hasAttachments: boolean;
  readonly body: ReadBody | null;
}

export interface FilterResult {
  readonly markRead: boolean;
  readonly labelIds: ReadonlySet<string>;
  readonly remove: boolean;
  /** Filters that matched. */
  readonly matched: readonly FilterRow[];
  /** Filters whose conditions hold, except that the unread part of the body decides. */
  readonly undecided: readonly FilterRow[];
}

export type Conditions = Pick<FilterRow, 'fromAddressContains' | 'subjectContains' | 'bodyContains' | 'hasAttachments'>;

/** An email's words, case-folded once for many filters. */
export class FoldedFacts {
  readonly hasAttachments: boolean;
  readonly #fromAddress: string;
  readonly #subject: string;
  readonly #body: string | null;
  readonly #isBodyWhole: boolean;

  constructor(facts: EmailFacts) {
    this.hasAttachments = facts.hasAttachments;
    this.#fromAddress = caseFolded(facts.fromAddress);
    this.#subject = caseFolded(facts.subject);
    this.#body = facts.body === null ? null : caseFolded(facts.body.text);
    this.#isBodyWhole = facts.body?.isWhole === true;
  }

  match(conditions: Conditions): boolean {
    return this.matchWithoutBody(conditions) && contains(this.#body, conditions.bodyContains);
  }

  /** True when the unread part of the body decides. */
  isUndecided(conditions: Conditions): boolean {
    return !this.#isBodyWhole && this.matchWithoutBody(conditions) && !this.match(conditions);
  }

  matchWithoutBody(conditions: Conditions): boolean {
    return (
      (conditions.hasAttachments === null || conditions.hasAttachments === this.hasAttachments) &&
      contains(this.#fromAddress, conditions.fromAddressContains) &&
      contains(this.#subject, conditions.subjectContains)
    );
  }
}

/** `filters` must be in order; a filter that deletes ends the evaluation. */
export function matchFilters(filters: readonly FilterRow[], facts: EmailFacts): FilterResult {
  const folded = new FoldedFacts(facts);
  const matched: FilterRow[] = [];
  const undecided: FilterRow[] = [];
  for (const filter of filters) {
    if (!filter.isEnabled) continue;
    if (folded.isUndecided(filter)) undecided.push(filter);
    if (!folded.match(filter)) continue;
    matched.push(filter);
    if (filter.delete === true) break;
  }
  const result = resultOf(matched);
  return { undecided: result.remove ? [] : undecided, ...result };
}

/** The combined effect of these filters; only the last may delete. */
export function resultOf(matched: readonly FilterRow[]): Omit<FilterResult, 'undecided'> {
  const remove = matched.at(-1)?.delete === true;
  const labelIds = (remove ? [] : matched).flatMap(({ assignLabelId }) => assignLabelId ?? []);
  return {
    markRead: matched.some((filter) => filter.markAsRead === true),
    labelIds: new Set(labelIds),
    remove,
    matched,
  };
}

/** The part of a filter that decides whether the body must be read. */
export type Asking = Conditions & Pick<FilterRow, 'isEnabled'>;

/** Whether the body's words could change the result of one of these filters. */
export function needsBody(asking: readonly Asking[], facts: EmailFacts): boolean {
  if (asking.length === 0) return false;
  const folded = new FoldedFacts(facts);
  return asking.some((filter) => filter.isEnabled && filter.bodyContains !== null && folded.matchWithoutBody(filter));
}

function contains(folded: string | null, part: string | null): boolean {
  return part === null || (folded?.includes(caseFolded(part)) ?? false);
}

/** Sorts by priority, then by the time of creation. */
export function inOrder(filters: readonly FilterRow[]): readonly FilterRow[] {
  return filters.toSorted(
    (a, b) => a.priority - b.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
}
