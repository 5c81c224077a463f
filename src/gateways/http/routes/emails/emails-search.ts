// Search in one account's mail: words as prefixes and quoted phrases, anywhere or in fields of the header, dates, flags, size and places, in
// the envelope of a list.
import { type Infer, optional } from 'superstruct';
import type { Mailboxes, MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { Payload } from '../../../../actors/runtime/protocol.js';
import { flagBit, isKeyword } from '../../../../mail-format/flags.js';
import { isUuid, uuidText } from '../../../../mail-format/ids.js';
import {
  SEARCH_FIELDS,
  type SearchField,
  type SearchTerm,
  searchTerms,
  wordCount,
} from '../../../../mail-format/words/search-text.js';
import type { FieldErrors } from '../../../problem-details.js';
import { flag, flagParameter, fromText, leaf, list, periodOf, record, text, uuid, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';
import {
  emailPage,
  folderOf,
  folderParameter,
  noSuchFolder,
  noSuchLabel,
  pageOf,
  paging,
  period,
  searchTooLarge,
} from './email-shapes.js';

const MOST_CHARACTERS = 1_000;
const MOST_WORDS = 64;
const MOST_LABELS = 10;
/** The rows that one request of ids may name. */
const MOST_ROWS = 100;
const ID_OCTETS = 16;

const ofField = (whose: string, example: string) =>
  optional(
    text({
      maxLength: MOST_CHARACTERS,
      description: `Words and phrases, as in \`q\`, that must all be in ${whose}`,
      examples: [example],
    }),
  );

/** Query: which emails a search finds. */
const criteria = {
  q: optional(
    text({
      maxLength: MOST_CHARACTERS,
      description: `Words that must all be in subject, sender, To, Cc, names of attachments or body. A word may be the beginning of one; phrases stand in quotes. At most ${MOST_WORDS} words`,
      examples: ['invoice "second quarter"'],
    }),
  ),
  query: optional(text({ description: 'Another name of `q`' })),
  from: ofField('the name or address of the sender', 'ann@example.org'),
  to: ofField('a name or address in To', 'zoe'),
  cc: ofField('a name or address in Cc', 'zoe'),
  subject: ofField('the subject', '"second quarter"'),
  ...period,
  hasAttachments: optional(flagParameter()),
  isRead: optional(flagParameter()),
  isFlagged: optional(flagParameter()),
  keyword: optional(
    leaf<string>(
      'string',
      (value) =>
        (typeof value === 'string' && (isKeyword(value) || flagBit(value) !== 0)) || 'must be a flag or keyword',
      {
        description: 'A flag or keyword as mail programs set them, in any case',
        examples: ['$NotJunk'],
      },
    ),
  ),
  minSizeBytes: optional(
    fromText(
      leaf<number>(
        'integer',
        (value) => (Number.isSafeInteger(value) && (value as number) >= 0) || 'must be an integer of at least 0',
        { minimum: 0, description: 'Messages of this size or larger' },
      ),
      (value) => (/^\d+$/.test(value) ? Number(value) : value),
    ),
  ),
  label: optional(
    leaf<string>(
      'string',
      (value) =>
        (typeof value === 'string' && areIds(value.split(','), MOST_LABELS)) ||
        'must be ids of labels with commas between',
      { description: `Id of a label that the email has; up to ${MOST_LABELS} with commas between` },
    ),
  ),
  folder: folderParameter,
  anywhere: optional(
    flagParameter({ description: 'True: emails that are only in trash or junk are found too; not with `folder`' }),
  ),
};

/** Query: a page of what a search finds. */
export const searching = { ...paging, ...criteria };

const areIds = (ids: readonly string[], most: number): boolean => ids.length <= most && ids.every(isUuid);

const REFUSALS = { noSuchFolder, noSuchLabel, searchTooLarge };

type Searching = Readonly<Infer<ReturnType<typeof record<typeof searching>>>>;

/**
 * Converts the parameters of `searching` to the payload of the mailbox. Undefined when the text contains no word, and so finds no email.
 */
export function searchOf(
  query: Searching,
): Payload<MailboxProtocol, 'search'> | { readonly errors: FieldErrors } | undefined {
  const { page, pageSize, fromDate, toDate, hasAttachments, isRead, isFlagged, keyword, folder } = query;
  const { minSizeBytes, label, anywhere } = query;
  if (query.q !== undefined && query.query !== undefined) return { errors: { query: ['is another name of q'] } };
  if (anywhere && folder !== undefined) return { errors: { anywhere: ['cannot be used with folder'] } };
  const texts = { q: query.q ?? query.query ?? '', ...fieldsOf(query) };
  const long = Object.entries(texts).find(([, { length }]) => length > MOST_CHARACTERS);
  if (long !== undefined) return { errors: { [long[0]]: [`must have at most ${MOST_CHARACTERS} characters`] } };
  const read = Object.entries(texts).map(([name, text]) => ({ name, text, terms: searchTerms(text) }));
  if (wordCount(read.flatMap(({ terms }) => terms)) > MOST_WORDS) {
    const { name } = read.find(({ terms }) => terms.length > 0)!;
    return { errors: { [name]: [`must have at most ${MOST_WORDS} words`] } };
  }
  if (read.some(({ text, terms }) => terms.length === 0 && text.trim() !== '')) return undefined;
  const [words, ...fields] = read;
  const inFields = fields.filter(({ terms }) => terms.length > 0);
  return {
    terms: ownTerms(words!.terms),
    ...(inFields.length > 0 && {
      fields: inFields.map(({ name, terms }) => ({ field: name as SearchField, terms: ownTerms(terms) })),
    }),
    ...periodOf(fromDate, toDate),
    ...(hasAttachments === undefined ? {} : { hasAttachments }),
    ...(isRead === undefined ? {} : { isRead }),
    ...(isFlagged === undefined ? {} : { isFlagged }),
    ...(keyword === undefined ? {} : { keyword }),
    ...(minSizeBytes === undefined ? {} : { minSize: minSizeBytes }),
    ...(label === undefined ? {} : { labels: [...new Set(label.toLowerCase().split(','))] }),
    ...folderOf(folder),
    ...(anywhere ? { anywhere } : {}),
    page,
    pageSize,
  };
}

/** The texts that fields of the header are searched for. */
function fieldsOf(query: Searching): Readonly<Record<string, string>> {
  return Object.fromEntries(
    SEARCH_FIELDS.flatMap((field) => (query[field] === undefined ? [] : [[field, query[field]]])),
  );
}

const ownTerms = (terms: readonly SearchTerm[]) => terms.map(({ words, prefix }) => ({ words: [...words], prefix }));

export function searchRoutes(base: string, tags: readonly string[], mailboxes: Mailboxes): readonly Route[] {
  return [found(base, tags, mailboxes), foundIds(base, tags, mailboxes)];
}

function found(base: string, tags: readonly string[], mailboxes: Mailboxes): Route {
  return defineRoute({
    method: 'GET',
    path: `${base}/search`,
    summary: 'Emails that match, newest first; unreadCount counts those that match',
    description:
      'A search leaves out trash and junk, unless `folder` names one or `anywhere` is true. Without any parameter it finds everything else.',
    tags,
    access: READ,
    query: searching,
    replies: { 200: emailPage },
    handler: async ({ principal, query }) => {
      const criteria = searchOf(query);
      if (criteria === undefined)
        return { status: 200, json: pageOf({ items: [], totalCount: 0, unreadCount: 0 }, query) };
      if ('errors' in criteria) return invalid(criteria.errors);
      const outcome = await mailboxes.of(principal.accountId).ask('search', criteria);
      if (outcome.reply === undefined) return REFUSALS[outcome.refusal]();
      return { status: 200, json: pageOf(outcome.reply, query) };
    },
  });
}

const PLACE = /^(\d{1,16})-([\da-f-]{36})$/i;

/** Query: the ids of what a search finds, or of a list by thread. */
const finding = {
  ...criteria,
  groupByThread: optional(
    flagParameter({
      description:
        'The emails of the rows of a list with `groupByThread`, whole rows: with `folder`, `isRead` and `isFlagged`, which choose rows as in that list, and no other parameter',
    }),
  ),
  rowsOf: optional(
    leaf<string>(
      'string',
      (value) =>
        (typeof value === 'string' && areIds(value.split(','), MOST_ROWS)) ||
        'must be ids of emails with commas between',
      {
        description: `Ids of emails, up to ${MOST_ROWS} with commas between: with \`groupByThread\` and \`folder\`, only the rows that have one of them`,
      },
    ),
  ),
  before: optional(
    leaf<string>(
      'string',
      (value) => (typeof value === 'string' && placeOf(value) !== undefined) || 'must be a `next` of a reply',
      { description: '`next` of the reply before: only older emails, or rows; not with `rowsOf`' },
    ),
  ),
};

const foundGroups = named(
  'FoundGroups',
  record({
    totalCount: whole({ description: 'All emails that match; with `before`, those that are older' }),
    groups: list(
      record({
        emailIds: list(uuid()),
        isRead: flag(),
        isFlagged: flag(),
        folderIds: list(uuid({ description: 'Ids of every folder that holds them, labels included' })),
      }),
    ),
    threads: optional(
      list(
        list(
          whole({
            description:
              'With `groupByThread`, for each row of several emails, the newest email first: the position of the email in the ids of all groups, read one after the other',
          }),
        ),
      ),
    ),
    next: optional(text({ description: 'There are older ones: the same request with `before` goes on' })),
  }),
);

function foundIds(base: string, tags: readonly string[], mailboxes: Mailboxes): Route {
  return defineRoute({
    method: 'GET',
    path: `${base}/search/ids`,
    summary: 'Ids of the newest 20,000 emails that match',
    description:
      'With `groupByThread`, of the newest rows of a list by thread, at most 20,000 emails. `before` gives the next 20,000. Emails that are alike in flags and folders are a group: whoever changes them all with the bulk endpoints knows what they were before.',
    tags,
    access: READ,
    query: finding,
    replies: { 200: foundGroups },
    handler: async ({ principal, query }) => {
      const errors = groupingFaults(query);
      if (errors !== undefined) return invalid(errors);
      const search = searchOf({ ...query, page: 1, pageSize: 1 });
      if (search === undefined) return { status: 200, json: { totalCount: 0, groups: [] } };
      if ('errors' in search) return invalid(search.errors);
      const { page: _, pageSize: __, ...asked } = search;
      const before = query.before === undefined ? undefined : placeOf(query.before);
      const outcome = await mailboxes.of(principal.accountId).ask('foundEmails', {
        ...asked,
        ...(query.groupByThread === true && { groupByThread: true }),
        ...(query.rowsOf !== undefined && { rowsOf: query.rowsOf.toLowerCase().split(',') }),
        ...(before && { before }),
      });
      if (outcome.reply === undefined) return REFUSALS[outcome.refusal]();
      const { totalCount, groups, threads, next } = outcome.reply;
      const json = {
        totalCount,
        groups: groups.map(({ ids, ...of }) => ({ emailIds: idsOf(ids), ...of })),
        ...(threads && { threads }),
        ...(next && { next: `${next.receivedAt}-${next.id}` }),
      };
      return { status: 200, json };
    },
  });
}

/** Rows are of a folder, and chosen by what lists of folders know. */
function groupingFaults(query: Infer<ReturnType<typeof record<typeof finding>>>): FieldErrors | undefined {
  const { groupByThread, rowsOf, folder, before, isRead: _, isFlagged: __, ...others } = query;
  if (before !== undefined && rowsOf !== undefined) return { before: ['cannot be used with rowsOf'] };
  if (groupByThread !== true) return rowsOf === undefined ? undefined : { rowsOf: ['needs groupByThread'] };
  if (folder === undefined) return { groupByThread: ['needs a folder'] };
  const other = Object.entries(others).find(([, value]) => value !== undefined);
  return other && { [other[0]]: ['cannot be used with groupByThread'] };
}

/** The place that a `next` names; undefined for any other text. */
function placeOf(text: string): { readonly receivedAt: number; readonly id: string } | undefined {
  const [, receivedAt, id] = PLACE.exec(text) ?? [];
  return id !== undefined && isUuid(id) ? { receivedAt: Number(receivedAt), id: id.toLowerCase() } : undefined;
}

function idsOf(packed: string): string[] {
  const octets = Buffer.from(packed, 'base64');
  return Array.from({ length: octets.length / ID_OCTETS }, (_, i) => uuidText(octets, i * ID_OCTETS));
}
