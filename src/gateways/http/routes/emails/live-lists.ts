// The lists that clients of the hub follow, in the terms of REST: a query accepts the parameters of the routes of lists, search and
// threads, refuses wrong ones like them, and shows emails like them.
import { optional, validate } from 'superstruct';
import type { EmailListItem, ListQuery } from '../../../../actors/mailbox/protocol.js';
import { SEARCH_FIELDS } from '../../../../mail-format/words/search-text.js';
import { idParameter, record } from '../../fields.js';
import { fieldErrors } from '../../pipeline/validation.js';
import {
  grouping,
  isUngroupable,
  listing,
  listingOf,
  noSuchFolder,
  noSuchLabel,
  paging,
  searchTooLarge,
  shown,
  ungroupable,
} from './email-shapes.js';
import { searching, searchOf } from './emails-search.js';

const fields = { ...searching, ...listing, ...grouping, threadId: optional(idParameter()) };
const query = record(fields);

/** A query with one of these is a search; a query without a search, a thread and a folder is the inbox. */
const OF_SEARCH = [
  'q',
  'query',
  ...SEARCH_FIELDS,
  'fromDate',
  'toDate',
  'hasAttachments',
  'keyword',
  'minSizeBytes',
  'label',
  'anywhere',
] as const;

const REFUSALS: Readonly<Record<string, string>> = {
  noSuchFolder: inWords(noSuchFolder().errors!),
  noSuchLabel: inWords(noSuchLabel().errors!),
  searchTooLarge: inWords(searchTooLarge().errors!),
  noSuchThread: 'threadId names no thread of this account',
};

type Read = { readonly query: ListQuery } | { readonly error: string };

/** Parameters may be strings, as in a query of REST, or values of JSON. */
export const liveLists = {
  read(value: unknown): Read {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { error: 'The query must be an object.' };
    const given = Object.entries(value).filter(([, parameter]) => parameter !== undefined && parameter !== null);
    const unknown = given.find(([name]) => !Object.hasOwn(fields, name));
    if (unknown !== undefined) return { error: `${unknown[0].slice(0, 80)} is no parameter of lists` };
    const texts = Object.fromEntries(given.map(([name, parameter]) => [name, textOf(parameter)]));
    const [error, read] = validate(texts, query, { coerce: true });
    return error ? { error: inWords(fieldErrors(error)) } : listOf(read, new Set(Object.keys(texts)));
  },

  shown: (item: EmailListItem): unknown => shown(item),

  refusal: (refusal: string): string => REFUSALS[refusal] ?? 'There is no such list.',
};

function listOf(read: (typeof query)['TYPE'], given: ReadonlySet<string>): Read {
  const { threadId, page, pageSize, folder = 'inbox' } = read;
  if (threadId !== undefined) {
    const other = [...given].find((name) => name !== 'threadId' && !(name in paging));
    if (other !== undefined) return { error: `${other} cannot be used with threadId` };
    return { query: { thread: { threadId, page, pageSize } } };
  }
  if (isUngroupable(read)) return { error: inWords(ungroupable().errors!) };
  if (!OF_SEARCH.some((name) => given.has(name))) return { query: { list: { folder, ...listingOf(read) } } };
  const other = (['sort', 'groupByThread'] as const).find((name) => read[name] !== undefined);
  if (other !== undefined) return { error: `${other} cannot be used with a search` };
  const search = searchOf(read);
  if (search === undefined) return { query: {} };
  return 'errors' in search ? { error: inWords(search.errors) } : { query: { search } };
}

const textOf = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;

function inWords(errors: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(errors)
    .map(([name, messages]) => `${name} ${messages.join(', ')}`)
    .join('; ');
}
