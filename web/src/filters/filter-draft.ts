// A filter as its form has it, and as the server takes it. Pure.
import type { Filter, FilterConditions, FilterInput } from '../../../src/client/index.js';
import { movedNumbers } from '../app/numbered-order.js';

export interface FilterDraft {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly from: string;
  readonly subject: string;
  readonly body: string;
  readonly attachments: 'any' | 'with' | 'without';
  readonly markAsRead: boolean;
  /** Empty when no label is assigned. */
  readonly labelId: string;
  readonly delete: boolean;
}

export const NO_FILTER: FilterDraft = {
  name: '',
  isEnabled: true,
  from: '',
  subject: '',
  body: '',
  attachments: 'any',
  markAsRead: false,
  labelId: '',
  delete: false,
};

export function draftOf(filter: FilterInput): FilterDraft {
  const { hasAttachments } = filter;
  return {
    name: filter.name,
    isEnabled: filter.isEnabled,
    from: filter.fromAddressContains ?? '',
    subject: filter.subjectContains ?? '',
    body: filter.bodyContains ?? '',
    attachments: typeof hasAttachments === 'boolean' ? (hasAttachments ? 'with' : 'without') : 'any',
    markAsRead: filter.markAsRead === true,
    labelId: filter.assignLabelId ?? '',
    delete: filter.delete === true,
  };
}

type FilterFault = 'noCondition' | 'noAction';

/** What a draft needs before it is of use. A filter without an action would do nothing. */
export function faultOf(draft: FilterDraft): FilterFault | undefined {
  if (!hasCondition(draft)) return 'noCondition';
  return draft.markAsRead || draft.labelId !== '' || draft.delete ? undefined : 'noAction';
}

export function hasCondition({ from, subject, body, attachments }: FilterDraft): boolean {
  return [from, subject, body].some((words) => words.trim() !== '') || attachments !== 'any';
}

export function conditionsOf({ from, subject, body, attachments }: FilterDraft): FilterConditions {
  return {
    fromAddressContains: wordsOf(from),
    subjectContains: wordsOf(subject),
    bodyContains: wordsOf(body),
    hasAttachments: attachments === 'any' ? null : attachments === 'with',
  };
}

/** A filter without a name is called after its words; `otherwise`: when it has none. */
export function inputOf(draft: FilterDraft, priority: number, otherwise: string): FilterInput {
  const words = [draft.from, draft.subject, draft.body].map((text) => text.trim()).find((text) => text !== '');
  return {
    name: draft.name.trim() || (words ?? otherwise).slice(0, 200),
    isEnabled: draft.isEnabled,
    priority,
    ...conditionsOf(draft),
    markAsRead: draft.markAsRead || null,
    assignLabelId: draft.labelId || null,
    delete: draft.delete || null,
  };
}

/** The same filter with other values: a PUT replaces the whole. */
export function changedFilter(filter: Filter, changed: Partial<FilterInput>): FilterInput {
  const { name, isEnabled, priority, fromAddressContains, subjectContains, bodyContains, hasAttachments } = filter;
  const { markAsRead, assignLabelId } = filter;
  return {
    ...{ name, isEnabled, priority, fromAddressContains, subjectContains, bodyContains, hasAttachments },
    ...{ markAsRead, assignLabelId, delete: filter.delete },
    ...changed,
  };
}

/** A new filter comes after the others. */
export function lastPriority(filters: readonly Filter[]): number {
  return Math.max(0, ...filters.map(({ priority }) => priority + 1));
}

/** The new priorities that move a filter up or down by one. */
export function movedFilters(filters: readonly Filter[], id: string, by: 1 | -1) {
  const numbers = filters.map((filter) => ({ id: filter.id, number: filter.priority }));
  return movedNumbers(numbers, id, filters.findIndex((filter) => filter.id === id) + by);
}

const wordsOf = (text: string): string | null => (text.trim() === '' ? null : text.trim());
