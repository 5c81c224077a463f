// A filter as its form has it, and as the server takes it. Pure.
import type { Filter, FilterConditions, FilterInput } from '../../../src/client/index.js';
import { movedNumbers } from '../app/numbered-order.js';

export interface FilterDraft {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  readonly subject: string;
  readonly body: string;
  readonly list: string;
  readonly fieldName: string;
  readonly field: string;
  /** A regular expression. */
  readonly matches: string;
  readonly attachments: 'any' | 'with' | 'without';
  /** Kilobytes, as they are typed. */
  readonly atLeast: string;
  readonly atMost: string;
  readonly markAsRead: boolean;
  /** A text is a keyword, which the form keeps; empty: nothing. */
  readonly flag: true | string;
  /** Empty when no label is assigned; `NEW`: the label `newLabel`, which is made when the filter is saved. */
  readonly labelId: string;
  readonly newLabel: string;
  /** Empty when it stays in the inbox; `NEW`: the folder `newFolder`. */
  readonly folderId: string;
  readonly newFolder: string;
  /** Empty when it is not forwarded. */
  readonly forwardTo: string;
  readonly delete: boolean;
  readonly stop: boolean;
}

/** The parts of a draft that are words to find. */
export type WordsPart = 'from' | 'to' | 'cc' | 'subject' | 'body' | 'list' | 'fieldName' | 'field' | 'matches';

/** No label and no folder has this id. */
export const NEW = 'new';

export const NO_FILTER: FilterDraft = {
  name: '',
  isEnabled: true,
  ...{ from: '', to: '', cc: '', subject: '', body: '', list: '', fieldName: '', field: '', matches: '' },
  ...{ attachments: 'any', atLeast: '', atMost: '' },
  ...{
    markAsRead: false,
    flag: '',
    labelId: '',
    newLabel: '',
    folderId: '',
    newFolder: '',
    forwardTo: '',
    delete: false,
    stop: false,
  },
};

const OCTETS_PER_KILOBYTE = 1_000;

export function draftOf(filter: FilterInput): FilterDraft {
  const { hasAttachments } = filter;
  return {
    name: filter.name,
    isEnabled: filter.isEnabled,
    from: filter.fromAddressContains ?? '',
    to: filter.toContains ?? '',
    cc: filter.ccContains ?? '',
    subject: filter.subjectContains ?? '',
    body: filter.bodyContains ?? '',
    list: filter.listId ?? '',
    fieldName: filter.headerName ?? '',
    field: filter.headerContains ?? '',
    matches: filter.matches ?? '',
    attachments: typeof hasAttachments === 'boolean' ? (hasAttachments ? 'with' : 'without') : 'any',
    atLeast: kilobytesOf(filter.minSizeBytes),
    atMost: kilobytesOf(filter.maxSizeBytes),
    markAsRead: filter.markAsRead === true,
    flag: filter.flag || '',
    labelId: filter.assignLabelId ?? '',
    newLabel: '',
    folderId: filter.moveToFolderId ?? '',
    newFolder: '',
    forwardTo: filter.forwardTo ?? '',
    delete: filter.delete === true,
    stop: filter.stop === true,
  };
}

type FilterFault = 'noCondition' | 'noAction' | 'noNewName' | 'noFieldName' | 'noSize' | 'noSizeBetween';

/** What a draft needs before it is of use. A filter without an action would do nothing. */
export function faultOf(draft: FilterDraft): FilterFault | undefined {
  if (draft.field.trim() !== '' && draft.fieldName.trim() === '') return 'noFieldName';
  if ([draft.atLeast, draft.atMost].some((size) => size.trim() !== '' && octetsOf(size) === null)) return 'noSize';
  const { minSizeBytes, maxSizeBytes } = conditionsOf(draft);
  if ((minSizeBytes ?? 0) > (maxSizeBytes ?? Number.POSITIVE_INFINITY)) return 'noSizeBetween';
  if (!hasCondition(draft)) return 'noCondition';
  const { markAsRead, flag, labelId, newLabel, folderId, newFolder, stop } = draft;
  if ((labelId === NEW && newLabel.trim() === '') || (folderId === NEW && newFolder.trim() === '')) return 'noNewName';
  const named = [flag, labelId, folderId, draft.forwardTo.trim()];
  return markAsRead || stop || draft.delete || named.some((value) => value !== '') ? undefined : 'noAction';
}

export function hasCondition(draft: FilterDraft): boolean {
  return Object.values(conditionsOf(draft)).some((condition) => condition !== null);
}

export function conditionsOf(draft: FilterDraft): FilterConditions {
  const { attachments } = draft;
  return {
    fromAddressContains: wordsOf(draft.from),
    toContains: wordsOf(draft.to),
    ccContains: wordsOf(draft.cc),
    subjectContains: wordsOf(draft.subject),
    bodyContains: wordsOf(draft.body),
    headerName: wordsOf(draft.fieldName),
    headerContains: wordsOf(draft.field),
    listId: wordsOf(draft.list),
    hasAttachments: attachments === 'any' ? null : attachments === 'with',
    minSizeBytes: octetsOf(draft.atLeast),
    maxSizeBytes: octetsOf(draft.atMost),
    matches: wordsOf(draft.matches),
  };
}

/** A filter without a name is called after its words; `otherwise`: when it has none. */
export function inputOf(draft: FilterDraft, priority: number, otherwise: string): FilterInput {
  const { from, to, cc, subject, body, list, matches } = draft;
  const words = [from, to, cc, subject, body, list, matches].map((text) => text.trim()).find((text) => text !== '');
  return {
    name: draft.name.trim() || (words ?? otherwise).slice(0, 200),
    isEnabled: draft.isEnabled,
    priority,
    ...conditionsOf(draft),
    markAsRead: draft.markAsRead || null,
    flag: draft.flag || null,
    assignLabelId: draft.labelId || null,
    moveToFolderId: draft.folderId || null,
    forwardTo: draft.forwardTo.trim() || null,
    delete: draft.delete || null,
    stop: draft.stop || null,
  };
}

/** What the server alone says of a filter. */
const TOLD: readonly string[] = [
  'id',
  'disabledReason',
  'createdAt',
  'updatedAt',
  'lastAppliedAt',
  'timesApplied',
  'assignLabelName',
  'assignLabelColor',
  'moveToFolderName',
] satisfies readonly (keyof Filter)[];

/** The same filter with other values: a PUT replaces the whole. */
export function changedFilter(filter: Filter, changed: Partial<FilterInput>): FilterInput {
  const input = Object.fromEntries(Object.entries(filter).filter(([name]) => !TOLD.includes(name)));
  return { ...(input as unknown as FilterInput), ...changed };
}

const kilobytesOf = (octets: number | null | undefined): string =>
  typeof octets === 'number' ? String(octets / OCTETS_PER_KILOBYTE) : '';

/** Null when it is no size. */
function octetsOf(kilobytes: string): number | null {
  const number = Number(kilobytes.trim().replace(',', '.'));
  return kilobytes.trim() === '' || !(number >= 0 && number < 1e12) ? null : Math.round(number * OCTETS_PER_KILOBYTE);
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
