// Searches as people type them: words and phrases, and operators such as from:ann, has:attachment, before:2026-12-01, in:archive, is:unread.
// What only looks like an operator is searched as words, and the field says so.
import type { ListQuery } from '../../../src/client/index.js';

/** A folder or label that `in:` can name. */
export interface Searchable {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

export interface ParsedSearch {
  readonly query: ListQuery & { readonly q: string };
  /** Parts that look like operators and are searched as words. */
  readonly unknown: readonly string[];
}

/** The fields of the header that have an operator. */
const FIELDS = ['from', 'to', 'cc', 'subject'] as const;
/** An operator with or without quotes around its value, a phrase, or a word. */
const PART = /(\w+):"([^"]*)"?|(\w+):([^\s"]+)|"[^"]*"?|\S+/g;
/** What people take for an operator; `10:30` and `https://…` are words. */
const OPERATOR = /^[a-z]+:(?!\/)/i;
const DATE = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/;
const SIZE = /^(\d+(?:\.\d+)?)([kmg]?)b?$/;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 };

export function parseSearch(text: string, folders: readonly Searchable[]): ParsedSearch {
  const words: string[] = [];
  const unknown: string[] = [];
  let query: ListQuery = {};
  for (const [part, quotedName, quotedValue, name = quotedName, value = quotedValue] of text.matchAll(PART)) {
    const found = name && value?.trim() ? withOperator(query, name.toLowerCase(), value.trim(), folders) : undefined;
    if (found !== undefined) {
      query = found;
      continue;
    }
    words.push(part);
    if (OPERATOR.test(part)) unknown.push(part);
  }
  // Within a folder there is nothing else to search.
  if (query.folder !== undefined) query = { ...query, anywhere: undefined };
  return { query: { ...given(query), q: words.join(' ') }, unknown };
}

/** The query with what an operator says; undefined when it says nothing. */
function withOperator(
  query: ListQuery,
  name: string,
  value: string,
  folders: readonly Searchable[],
): ListQuery | undefined {
  const field = FIELDS.find((one) => one === name);
  if (field !== undefined) {
    const words = /\s/.test(value) ? `"${value}"` : value;
    return { ...query, [field]: query[field] === undefined ? words : `${query[field]} ${words}` };
  }
  const criterion = criterionOf(name, value.toLowerCase(), folders);
  if (criterion?.folder !== undefined && query.folder !== undefined && query.folder !== criterion.folder)
    return undefined;
  if (criterion?.label === undefined) return criterion && { ...query, ...criterion };
  const labels = new Set([...(query.label?.split(',') ?? []), criterion.label]);
  return { ...query, label: [...labels].join(',') };
}

function criterionOf(name: string, value: string, folders: readonly Searchable[]): ListQuery | undefined {
  switch (name) {
    case 'has':
      return /^attachments?$/.test(value) ? { hasAttachments: true } : undefined;
    case 'after':
      return startOf(value, (start) => ({ fromDate: start.toISOString() }));
    case 'before':
      return startOf(value, (start) => ({ toDate: new Date(start.getTime() - 1).toISOString() }));
    case 'is':
      return stateOf(value);
    case 'in':
      return value === 'anywhere' ? { anywhere: true } : placeOf(value, folders);
    case 'label':
      return placeOf(
        value,
        folders.filter(({ role }) => role === 'label'),
      );
    case 'larger':
      return sizeOf(value);
    default:
      return undefined;
  }
}

function stateOf(value: string): ListQuery | undefined {
  if (value === 'unread') return { isRead: false };
  if (value === 'read') return { isRead: true };
  return value === 'flagged' || value === 'starred' ? { isFlagged: true } : undefined;
}

/** When a day, a month or a year begins where the reader is. */
function startOf<T>(value: string, of: (start: Date) => T): T | undefined {
  const [, year, month = '1', day = '1'] = DATE.exec(value.replaceAll('/', '-')) ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(day));
  const isReal = start.getMonth() === Number(month) - 1 && start.getDate() === Number(day);
  return isReal ? of(start) : undefined;
}

/** `5M` are 5,000,000 bytes, as the page writes sizes. */
function sizeOf(value: string): ListQuery | undefined {
  const [, number, unit = ''] = SIZE.exec(value) ?? [];
  return number === undefined ? undefined : { minSizeBytes: Math.round(Number(number) * UNITS[unit]!) };
}

function placeOf(value: string, folders: readonly Searchable[]): ListQuery | undefined {
  const found = folders.find(({ id, name, role }) => {
    const isOwn = role === 'label' || role === 'folder';
    return id === value || (isOwn ? name.toLowerCase() === value : role === value || name.toLowerCase() === value);
  });
  if (found === undefined) return undefined;
  if (found.role === 'label') return { label: found.id };
  return { folder: found.role === 'folder' ? found.id : found.role };
}

/** The parameters that are there. */
function given(query: ListQuery): ListQuery {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
