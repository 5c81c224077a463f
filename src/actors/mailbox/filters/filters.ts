// Filters: rules of the user for future mail. filter-match.ts judges them, delivery-plan.ts says what follows, and deliver.ts carries it out.
import {
  type FilterConditions,
  type FilterRow,
  FURTHER_ACTIONS,
  FURTHER_CONDITIONS,
} from '../../../store/mailbox-rows.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import { folderNamed } from '../commands/selection.js';
import type { Filter, MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';

const MOST_FILTERS = 200;
/** The most filters with a regular expression: the expressions of an account are searched in each of its emails. */
const MOST_EXPRESSIONS = 20;

type Names = 'putFilter' | 'createFilter' | 'updateFilter' | 'deleteFilter';
type Rule = Payload<MailboxProtocol, 'putFilter'>['rule'];
type RuleOf020 = Payload<MailboxProtocol, 'createFilter'>['rule'];
type CheckedRule = Rule & Pick<FilterRow, 'disabledReason'>;

const CONDITIONS_OF_020 = ['fromAddressContains', 'subjectContains', 'bodyContains', 'hasAttachments'] as const;
const CONDITIONS = [...CONDITIONS_OF_020, ...(Object.keys(FURTHER_CONDITIONS) as (keyof typeof FURTHER_CONDITIONS)[])];

const wholeRule = (rule: RuleOf020): Rule => ({
  ...FURTHER_CONDITIONS,
  ...FURTHER_ACTIONS,
  ...rule,
});

/** Conditions that another node has sent. */
export const wholeConditions = (given: Payload<MailboxProtocol, 'testConditions'>['conditions']) =>
  ({ ...FURTHER_CONDITIONS, ...given }) as FilterConditions;

export const conditionsOf = (filter: FilterRow): FilterConditions =>
  Object.fromEntries(CONDITIONS.map((name) => [name, filter[name]])) as unknown as FilterConditions;

/** Whether a filter has a condition that a node of 0.2.0 does not know. */
export const isBeyond020 = (filter: FilterConditions): boolean =>
  CONDITIONS.some((name) => name in FURTHER_CONDITIONS && filter[name] !== null);

/** A filter also judges mail that is delivered later in the group of commands. */
export const filterCommands: Pick<MailboxHandlers<MailboxProtocol>, Names> = {
  putFilter: {
    reads: ({ rule }) => ({ filter: rule }),
    plan: (tx, { filterId, rule }) =>
      filterId === undefined ? createFilter(tx, rule) : changeFilter(tx, filterId, rule),
  },
  createFilter: {
    reads: ({ rule }) => ({ filter: wholeRule(rule) }),
    plan: (tx, { rule }) => createFilter(tx, wholeRule(rule)),
  },
  updateFilter: {
    reads: ({ rule }) => ({ filter: wholeRule(rule) }),
    plan(tx, { filterId, rule }) {
      const changed = changeFilter(tx, filterId, wholeRule(rule));
      return changed.refusal === undefined ? { reply: {} } : changed;
    },
  },
  deleteFilter,
};

function createFilter(tx: MailboxTransaction, rule: Rule): Outcome<MailboxProtocol, 'createFilter'> {
  const checked = checkedRule(tx, rule);
  if ('refusal' in checked) return checked;
  if (tx.filters.all().length >= MOST_FILTERS) return { refusal: 'tooMany' };
  tx.begin();
  // Later than all others, even if the clock goes back: among filters of one priority the older one is first.
  const createdAt = Math.max(tx.now, ...tx.filters.all().map((other) => other.createdAt + 1));
  const filter: FilterRow = {
    ...checked,
    id: tx.otherId(),
    createdAt,
    updatedAt: createdAt,
    lastAppliedAt: null,
    timesApplied: 0,
  };
  tx.filters.put(filter);
  return { reply: filter };
}

function changeFilter(
  tx: MailboxTransaction,
  filterId: string,
  rule: Rule,
):
  | { readonly reply: Filter; readonly refusal?: never }
  | Extract<Outcome<MailboxProtocol, 'updateFilter'>, { refusal: string }> {
  const filter = tx.filters.get(filterId);
  if (filter === undefined) return { refusal: 'noSuchFilter' };
  const checked = checkedRule(tx, rule, filterId);
  if ('refusal' in checked) return checked;
  tx.begin();
  const changed = { ...filter, ...checked, updatedAt: tx.now };
  tx.filters.put(changed);
  return { reply: changed };
}

function deleteFilter(
  tx: MailboxTransaction,
  { filterId }: Payload<MailboxProtocol, 'deleteFilter'>,
): Outcome<MailboxProtocol, 'deleteFilter'> {
  if (tx.filters.get(filterId) === undefined) return { refusal: 'noSuchFilter' };
  tx.begin();
  tx.filters.remove(filterId);
  return { reply: {} };
}

/** The rule with the id of its folder, which may be named by its role. `filterId`: the filter that gets the rule. */
function checkedRule(
  tx: MailboxTransaction,
  rule: Rule,
  filterId?: string,
): CheckedRule | { readonly refusal: 'noSuchLabel' | 'noSuchFolder' | 'tooManyExpressions' } {
  const { assignLabelId, moveToFolderId } = rule;
  if (assignLabelId !== null && tx.folders.label(assignLabelId) === undefined) return { refusal: 'noSuchLabel' };
  const folder = moveToFolderId === null ? undefined : folderNamed(tx, moveToFolderId);
  // An email in Drafts is a draft.
  if (moveToFolderId !== null && (folder === undefined || folder.role === 'drafts')) return { refusal: 'noSuchFolder' };
  const others = tx.filters.all().filter(({ id, matches }) => id !== filterId && matches !== null);
  if (rule.matches !== null && others.length >= MOST_EXPRESSIONS) return { refusal: 'tooManyExpressions' };
  return { ...rule, moveToFolderId: folder?.id ?? null, disabledReason: null };
}

/** Ends what filters do with folders that are deleted: a label is not assigned any more, and a filter without its folder is disabled. */
export function forgetFolders(tx: MailboxTransaction, folderIds: ReadonlySet<string>): void {
  for (const filter of tx.filters.all()) {
    const { assignLabelId, moveToFolderId } = filter;
    const isLabelGone = assignLabelId !== null && folderIds.has(assignLabelId);
    const isFolderGone = moveToFolderId !== null && folderIds.has(moveToFolderId);
    if (!isLabelGone && !isFolderGone) continue;
    tx.filters.put({
      ...filter,
      ...(isLabelGone && { assignLabelId: null }),
      ...(isFolderGone && { moveToFolderId: null, isEnabled: false, disabledReason: 'folderDeleted' }),
      updatedAt: tx.now,
    });
  }
}
