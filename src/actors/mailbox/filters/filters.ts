// Filters: rules of the user for future mail. deliver.ts and filter-match.ts apply them.
import type { FilterRow } from '../../../store/mailboxes.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';

const MOST_FILTERS = 200;

type Names = 'createFilter' | 'updateFilter' | 'deleteFilter';

/** A filter also judges mail that is delivered later in the group of commands. */
export const filterCommands: Pick<MailboxHandlers<MailboxProtocol>, Names> = {
  createFilter: { reads: ({ rule }) => ({ filter: rule }), plan: createFilter },
  updateFilter: { reads: ({ rule }) => ({ filter: rule }), plan: updateFilter },
  deleteFilter,
};

function createFilter(
  tx: MailboxTransaction,
  { rule }: Payload<MailboxProtocol, 'createFilter'>,
): Outcome<MailboxProtocol, 'createFilter'> {
  if (!isLabelKnown(tx, rule.assignLabelId)) return { refusal: 'noSuchLabel' };
  if (tx.filters.all().length >= MOST_FILTERS) return { refusal: 'tooMany' };
  tx.begin();
  // Later than all others, even if the clock goes back: among filters of one priority the older one is first.
  const createdAt = Math.max(tx.now, ...tx.filters.all().map((other) => other.createdAt + 1));
  const filter: FilterRow = {
    ...rule,
    id: tx.otherId(),
    createdAt,
    updatedAt: createdAt,
    lastAppliedAt: null,
    timesApplied: 0,
  };
  tx.filters.put(filter);
  return { reply: filter };
}

function updateFilter(
  tx: MailboxTransaction,
  { filterId, rule }: Payload<MailboxProtocol, 'updateFilter'>,
): Outcome<MailboxProtocol, 'updateFilter'> {
  const filter = tx.filters.get(filterId);
  if (filter === undefined) return { refusal: 'noSuchFilter' };
  if (!isLabelKnown(tx, rule.assignLabelId)) return { refusal: 'noSuchLabel' };
  tx.begin();
  tx.filters.put({ ...filter, ...rule, updatedAt: tx.now });
  return { reply: {} };
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

function isLabelKnown(tx: MailboxTransaction, labelId: string | null): boolean {
  return labelId === null || tx.folders.label(labelId) !== undefined;
}
