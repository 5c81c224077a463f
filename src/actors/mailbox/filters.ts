// Filters: rules that the user makes for mail to come. What they do is in deliver and filter-match.
import type { FilterRow } from '../../store/mailboxes.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import type { MailboxProtocol } from './protocol.js';
import type { MailboxTransaction } from './transaction.js';

const MOST_FILTERS = 200;

export function createFilter(
  draft: MailboxTransaction,
  { rule }: Payload<MailboxProtocol, 'createFilter'>,
): Outcome<MailboxProtocol, 'createFilter'> {
  if (!isLabelKnown(draft, rule.assignLabelId)) return { refusal: 'noSuchLabel' };
  if (draft.filters.all().length >= MOST_FILTERS) return { refusal: 'tooMany' };
  draft.begin();
  // Later than every other one's, whatever the clock does: among filters of one priority the older one is first.
  const createdAt = Math.max(draft.now, ...draft.filters.all().map((other) => other.createdAt + 1));
  const filter: FilterRow = {
    ...rule,
    id: draft.otherId(),
    createdAt,
    updatedAt: createdAt,
    lastAppliedAt: null,
    timesApplied: 0,
  };
  draft.filters.put(filter);
  return { reply: filter };
}

export function updateFilter(
  draft: MailboxTransaction,
  { filterId, rule }: Payload<MailboxProtocol, 'updateFilter'>,
): Outcome<MailboxProtocol, 'updateFilter'> {
  const filter = draft.filters.get(filterId);
  if (filter === undefined) return { refusal: 'noSuchFilter' };
  if (!isLabelKnown(draft, rule.assignLabelId)) return { refusal: 'noSuchLabel' };
  draft.begin();
  draft.filters.put({ ...filter, ...rule, updatedAt: draft.now });
  return { reply: {} };
}

export function deleteFilter(
  draft: MailboxTransaction,
  { filterId }: Payload<MailboxProtocol, 'deleteFilter'>,
): Outcome<MailboxProtocol, 'deleteFilter'> {
  if (draft.filters.get(filterId) === undefined) return { refusal: 'noSuchFilter' };
  draft.begin();
  draft.filters.remove(filterId);
  return { reply: {} };
}

function isLabelKnown(draft: MailboxTransaction, labelId: string | null): boolean {
  return labelId === null || draft.folders.label(labelId) !== undefined;
}
