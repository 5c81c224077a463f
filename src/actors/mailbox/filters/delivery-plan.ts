// The plan of a delivery: what becomes of an email, as a value. Filters make it here from the facts of the email; the command that delivers
// carries it out (../commands/deliver.ts).
import { FLAG_NAMES, SEEN } from '../../../mail-format/flags.js';
import type { SieveAnswer, TrackedKey } from '../../../mail-format/sieve/actions.js';
import type { HeaderEdit } from '../../../mail-format/sieve/header-edit.js';
import type { FilterRow } from '../../../store/mailbox-rows.js';
import { type EmailFacts, FoldedFacts } from './filter-match.js';

export interface DeliveryPlan {
  /** Folders that the email goes to instead of the inbox; empty: it goes to the inbox. */
  readonly folderIds: ReadonlySet<string>;
  /** Labels that it gets as well. */
  readonly labelIds: ReadonlySet<string>;
  /** Names of flags and keywords. */
  readonly flags: ReadonlySet<string>;
  /** Addresses elsewhere that get it too. */
  readonly forwardTo: ReadonlySet<string>;
  /** The email is deleted: nothing else applies, except that it is forwarded. */
  readonly remove: boolean;
  /** Nothing that follows the filters judges the email. */
  readonly stop: boolean;
}

/** An email with the header that a script has made. */
export interface EditedCopy {
  /** Undefined: the message is as it came. */
  readonly edit: HeaderEdit | undefined;
  readonly folderIds: ReadonlySet<string>;
  /** Names of flags and keywords. */
  readonly flags: ReadonlySet<string>;
}

/** What a script does apart from placing the email. */
export interface ScriptEffects {
  /** What the script has changed in the header of the email; undefined: the message is as it came. */
  readonly edit: HeaderEdit | undefined;
  /** Further emails, whose headers differ. */
  readonly copies: readonly EditedCopy[];
  /** The edits of what is sent on, by target; others get the message as it came. */
  readonly sentEdits: ReadonlyMap<string, HeaderEdit>;
  /** The email is sent on: it is not deleted, though the account may keep no copy. */
  readonly isRedirected: boolean;
  /** What the sender is told. */
  readonly replies: readonly SieveAnswer[];
  /** What is a duplicate from now on. */
  readonly tracked: readonly TrackedKey[];
}

export interface FilterResult {
  readonly plan: DeliveryPlan;
  /** Filters that matched. */
  readonly matched: readonly FilterRow[];
  /** Filters that an unread part decides about, and those that an undecided one may stop. */
  readonly undecided: readonly FilterRow[];
  /** What a script does besides. */
  readonly script?: ScriptEffects;
}

/** The name of the flag that `markAsRead` gives. */
const [SEEN_FLAG] = FLAG_NAMES.filter(([bit]) => bit === SEEN).map(([, name]) => name) as [string];

/** `filters` must be in order; a filter that deletes or stops ends the evaluation. */
export function planDelivery(filters: readonly FilterRow[], facts: EmailFacts): FilterResult {
  if (filters.length === 0) return NOTHING_MATCHED;
  const folded = new FoldedFacts(facts);
  const matched: FilterRow[] = [];
  const undecided: FilterRow[] = [];
  let mayBeStopped = false;
  for (const filter of filters) {
    if (!filter.isEnabled) continue;
    const verdict = folded.judge(filter);
    if (verdict === 'differs') continue;
    if (verdict === 'undecided' || mayBeStopped) {
      undecided.push(filter);
      mayBeStopped ||= filter.stop === true;
      continue;
    }
    matched.push(filter);
    if (isLast(filter)) break;
  }
  const plan = planOf(matched);
  return { plan, matched, undecided: plan.remove ? [] : undecided };
}

/** The first of these filters, in order, down to one that deletes or stops. */
export function upToLast(filters: readonly FilterRow[]): readonly FilterRow[] {
  const last = filters.findIndex(isLast);
  return last < 0 ? filters : filters.slice(0, last + 1);
}

/** The combined effect of these filters; only the last may delete or stop. */
export function planOf(matched: readonly FilterRow[]): DeliveryPlan {
  const last = matched.at(-1);
  const remove = last?.delete === true;
  const kept = remove ? [] : matched;
  return {
    folderIds: new Set(kept.flatMap(({ moveToFolderId }) => moveToFolderId ?? [])),
    labelIds: new Set(kept.flatMap(({ assignLabelId }) => assignLabelId ?? [])),
    flags: new Set(
      kept.flatMap(({ markAsRead, flag }) => [
        ...(markAsRead === true ? [SEEN_FLAG] : []),
        ...(flag === null ? [] : [flag]),
      ]),
    ),
    forwardTo: new Set(matched.flatMap(({ forwardTo }) => forwardTo ?? [])),
    remove,
    stop: last?.stop === true,
  };
}

const NOTHING_MATCHED: FilterResult = { plan: planOf([]), matched: [], undecided: [] };

const isLast = (filter: FilterRow): boolean => filter.delete === true || filter.stop === true;
