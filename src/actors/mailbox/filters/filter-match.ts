// Decides which filters of an account match an email. Texts are compared without regard to case. All conditions of a filter must hold; a
// condition that is not set holds. Header and body may be unread: what then decides is undecided. Pure; delivery-plan.ts says what follows.
import type { MessageHeader } from '../../../mail-format/header/message-header.js';
import { caseFolded } from '../../../mail-format/words/case-fold.js';
import type { FilterConditions, FilterRow } from '../../../store/mailbox-rows.js';

/** What the search of a body has found (body-search.ts). */
export interface SearchedBody {
  /** Whether the body contains these texts; the keys are conditions. */
  readonly texts: ReadonlyMap<string, boolean>;
  /** Whether these expressions match a part of the subject and the body. */
  readonly patterns: ReadonlyMap<string, boolean>;
  /** False: only the start of the body was searched for texts. */
  readonly isWhole: boolean;
}

/** The facts that filters look at. */
export interface EmailFacts {
  readonly fromAddress: string;
  readonly subject: string;
  readonly hasAttachments: boolean;
  readonly size: number;
  /** Null when it was not read; conditions on it are then undecided. */
  readonly header: MessageHeader | null;
  /** Null when it was not read. */
  readonly body: SearchedBody | null;
}

export type Conditions = FilterConditions;
type FilterVerdict = 'matches' | 'differs' | 'undecided';

const HEADER_CONDITIONS = ['toContains', 'ccContains', 'headerName', 'listId'] as const;
const BODY_CONDITIONS = ['bodyContains', 'matches'] as const;

const readsHeader = (conditions: Conditions): boolean => HEADER_CONDITIONS.some((name) => conditions[name] !== null);
const readsBody = (conditions: Conditions): boolean => BODY_CONDITIONS.some((name) => conditions[name] !== null);

/** The facts of an email, whose texts are case-folded once for many filters. */
export class FoldedFacts {
  readonly #facts: EmailFacts;
  readonly #folded = new Map<string, string>();

  constructor(facts: EmailFacts) {
    this.#facts = facts;
  }

  judge(conditions: Conditions): FilterVerdict {
    if (!this.#holdsBySummary(conditions)) return 'differs';
    const header = readsHeader(conditions) ? this.#judgeHeader(conditions) : 'matches';
    if (header === 'differs') return header;
    const body = readsBody(conditions) ? this.#judgeBody(conditions) : 'matches';
    return body === 'matches' ? header : body;
  }

  #holdsBySummary(conditions: Conditions): boolean {
    const { hasAttachments, minSizeBytes, maxSizeBytes, fromAddressContains, subjectContains } = conditions;
    const { size } = this.#facts;
    return (
      (hasAttachments === null || hasAttachments === this.#facts.hasAttachments) &&
      (minSizeBytes === null || size >= minSizeBytes) &&
      (maxSizeBytes === null || size <= maxSizeBytes) &&
      this.#contains('from', () => this.#facts.fromAddress, fromAddressContains) &&
      this.#contains('subject', () => this.#facts.subject, subjectContains)
    );
  }

  #judgeHeader({ toContains, ccContains, headerName, headerContains, listId }: Conditions): FilterVerdict {
    const { header } = this.#facts;
    if (header === null) return 'undecided';
    const field = (name: string, part: string | null) =>
      this.#contains(`field ${name.toLowerCase()}`, () => header.values(name).join('\n'), part);
    const holds =
      this.#contains('to', () => header.addresses('to'), toContains) &&
      this.#contains('cc', () => header.addresses('cc'), ccContains) &&
      field('List-Id', listId) &&
      (headerName === null || (header.values(headerName).length > 0 && field(headerName, headerContains)));
    return holds ? 'matches' : 'differs';
  }

  #judgeBody({ bodyContains, matches }: Conditions): FilterVerdict {
    const { body } = this.#facts;
    if (body === null) return 'undecided';
    const isMatch = matches === null ? true : body.patterns.get(matches);
    if (isMatch === false) return 'differs';
    const isThere = bodyContains === null ? true : body.texts.get(bodyContains);
    if (isThere === false && body.isWhole) return 'differs';
    return isMatch && isThere ? 'matches' : 'undecided';
  }

  /** `key`: names the text among those that were folded before. */
  #contains(key: string, text: () => string, part: string | null): boolean {
    if (part === null) return true;
    let folded = this.#folded.get(key);
    if (folded === undefined) {
      folded = caseFolded(text());
      this.#folded.set(key, folded);
    }
    return folded.includes(caseFolded(part));
  }
}

/** The part of a filter that decides what must be read. */
export type Asking = Conditions & Pick<FilterRow, 'isEnabled'>;

/** The parts of an email that are not read and that may decide about a filter. */
export interface UnreadParts {
  readonly header: boolean;
  readonly body: boolean;
}

/** Whether a filter may look at more than the summary of an email. */
export const looksInside = (filter: Asking): boolean => filter.isEnabled && (readsHeader(filter) || readsBody(filter));

/** The filters that an unread part decides about. */
export function undecided(asking: readonly Asking[], facts: EmailFacts): readonly Asking[] {
  const folded = new FoldedFacts(facts);
  return asking.filter((filter) => filter.isEnabled && folded.judge(filter) === 'undecided');
}

export function unreadParts(asking: readonly Asking[], facts: EmailFacts): UnreadParts {
  const left = asking.length === 0 ? [] : undecided(asking, facts);
  return {
    header: facts.header === null && left.some(readsHeader),
    body: facts.body === null && left.some(readsBody),
  };
}

/** Sorts by priority, then by the time of creation. */
export function inOrder(filters: readonly FilterRow[]): readonly FilterRow[] {
  return filters.toSorted(
    (a, b) => a.priority - b.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
}
