// The columns of a mailbox's tables: one declaration each for emails, folders and filters. The commit, the queries and the
// loading of a mailbox take their column lists from here.
import { type MessageSummary, messageSummary } from '../../../mail-format/summary.js';
import {
  type EmailRow,
  type FilterRow,
  type FolderRow,
  FURTHER_ACTIONS,
  FURTHER_CONDITIONS,
} from '../../mailbox-rows.js';
import { type Column, certainFlag, columnsOf, flag, hex, integer, text, texts, time, uuid } from '../driver/columns.js';

/** Names of columns that differ from the fields of the summary. */
const OTHER_NAMES: { readonly [P in keyof MessageSummary]?: string } = {
  references: 'refs',
  fromIsEnvelopeSender: 'from_envelope',
  hasAuthenticationResults: 'has_results',
};

/** The kind of column by the type of the field's schema. */
const KINDS: Readonly<Record<string, typeof text>> = { string: text, integer, boolean: certainFlag, array: texts };

type MessageColumns = { readonly [P in keyof MessageSummary]-?: Partial<Column> };

/** Makes one column per field of the summary: a new field needs its column in a migration and nothing here. */
function columnsOfSummary(): MessageColumns {
  const fields = Object.entries(messageSummary.schema) as [keyof MessageSummary, { readonly type: string }][];
  const columns = fields.map(([field, { type }]) => {
    const kind = KINDS[type];
    if (kind === undefined) throw new Error(`no column has a field of type ${type}: ${field}`);
    return [field, kind(OTHER_NAMES[field])];
  });
  return Object.fromEntries(columns);
}

const summary = columnsOfSummary();
/** Columns of `MessageSummary`. */
export const messageColumns = columnsOf<MessageSummary>(summary);

export const emailColumns = columnsOf<EmailRow>({
  id: uuid(),
  blob: hex(),
  threadId: uuid(),
  receivedAt: time(),
  ...summary,
  flags: integer(),
  keywords: texts(),
  modseq: integer(),
  origin: text(),
});

/** Columns of `EmailSummaryRow`. */
export const emailSummaryColumns = emailColumns.except('flags', 'keywords', 'modseq');

export const folderColumns = columnsOf<FolderRow>({
  id: uuid(),
  role: text(),
  name: text(),
  color: text(),
  sortOrder: integer(),
  isSubscribed: flag(),
  uidValidity: integer('uidvalidity'),
  createdAt: time(),
  uidNext: integer('uidnext'),
  total: integer(),
  unread: integer(),
  highestModseq: integer(),
});

export const folderCounters = folderColumns.only('uidNext', 'total', 'unread', 'highestModseq');
/** Properties of a folder that may change, without its counters. */
export const changingFolderColumns = folderColumns.only('name', 'color', 'sortOrder', 'isSubscribed');

/** A filter as it is stored. A node of 0.2.0 sees a filter as disabled that has what it does not know (`isEnabled`). */
interface StoredFilter extends FilterRow {
  readonly isActive: boolean | null;
}

const BEYOND = Object.keys({ ...FURTHER_CONDITIONS, ...FURTHER_ACTIONS }) as (keyof FilterRow)[];

const isBeyond = (filter: FilterRow): boolean => BEYOND.some((name) => filter[name] !== null && filter[name] !== false);

export function storedFilter(filter: FilterRow): StoredFilter {
  const { isEnabled } = filter;
  return isBeyond(filter) ? { ...filter, isEnabled: false, isActive: isEnabled } : { ...filter, isActive: null };
}

export function filterOf({ isActive, ...filter }: StoredFilter): FilterRow {
  return isBeyond(filter) ? { ...filter, isEnabled: isActive ?? filter.isEnabled } : filter;
}

export const filterColumns = columnsOf<StoredFilter>({
  id: uuid(),
  name: text(),
  isEnabled: flag(),
  priority: integer(),
  fromAddressContains: text('from_contains'),
  subjectContains: text('subject_contains'),
  bodyContains: text('body_contains'),
  hasAttachments: flag(),
  toContains: text(),
  ccContains: text(),
  headerName: text(),
  headerContains: text(),
  listId: text(),
  minSizeBytes: integer(),
  maxSizeBytes: integer(),
  matches: text(),
  markAsRead: flag(),
  assignLabelId: uuid(),
  moveToFolderId: uuid(),
  flag: text(),
  forwardTo: text(),
  delete: flag('delete_email'),
  stop: flag(),
  disabledReason: text(),
  isActive: flag(),
  createdAt: time(),
  updatedAt: time(),
  lastAppliedAt: time(),
  timesApplied: integer(),
});
