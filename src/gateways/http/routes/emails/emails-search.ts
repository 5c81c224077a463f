// Search in one account's mail: words as prefixes, quoted phrases, dates and flags, in the envelope of a list.
import { type Infer, optional } from 'superstruct';
import type { Mailboxes, MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { Payload } from '../../../../actors/runtime/protocol.js';
import { flagBit, isKeyword } from '../../../../mail-format/flags.js';
import { searchTerms, wordCount } from '../../../../mail-format/words/search-text.js';
import type { FieldErrors } from '../../../problem-details.js';
import { flagParameter, leaf, periodOf, type record, text } from '../../fields.js';
import { invalid } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';
import {
  emailPage,
  folderOf,
  folderParameter,
  noSuchFolder,
  pageOf,
  paging,
  period,
  searchTooLarge,
} from './email-shapes.js';

const MOST_CHARACTERS = 1_000;
const MOST_WORDS = 64;

/** Query: which emails a search finds. */
export const searching = {
  ...paging,
  q: optional(
    text({
      maxLength: MOST_CHARACTERS,
      description: `Words that must all be in subject, sender, To, Cc, names of attachments or body. A word may be the beginning of one; phrases stand in quotes. At most ${MOST_WORDS} words`,
      examples: ['invoice "second quarter"'],
    }),
  ),
  query: optional(text({ description: 'Another name of `q`' })),
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
  folder: folderParameter,
};

const REFUSALS = { noSuchFolder, searchTooLarge };

type Searching = Readonly<Infer<ReturnType<typeof record<typeof searching>>>>;

/**
 * Converts the parameters of `searching` to the payload of the mailbox. Undefined when the text contains no word, and so finds no email.
 */
export function searchOf(
  query: Searching,
): Payload<MailboxProtocol, 'search'> | { readonly errors: FieldErrors } | undefined {
  const { page, pageSize, fromDate, toDate, hasAttachments, isRead, isFlagged, keyword, folder } = query;
  if (query.q !== undefined && query.query !== undefined) return { errors: { query: ['is another name of q'] } };
  const q = query.q ?? query.query ?? '';
  if (q.length > MOST_CHARACTERS) return { errors: { q: [`must have at most ${MOST_CHARACTERS} characters`] } };
  const terms = searchTerms(q);
  if (wordCount(terms) > MOST_WORDS) return { errors: { q: [`must have at most ${MOST_WORDS} words`] } };
  if (terms.length === 0 && q.trim() !== '') return undefined;
  return {
    terms: terms.map(({ words, prefix }) => ({ words: [...words], prefix })),
    ...periodOf(fromDate, toDate),
    ...(hasAttachments === undefined ? {} : { hasAttachments }),
    ...(isRead === undefined ? {} : { isRead }),
    ...(isFlagged === undefined ? {} : { isFlagged }),
    ...(keyword === undefined ? {} : { keyword }),
    ...folderOf(folder),
    page,
    pageSize,
  };
}

export function searchRoute(base: string, tags: readonly string[], mailboxes: Mailboxes): Route {
  return defineRoute({
    method: 'GET',
    path: `${base}/search`,
    summary: 'Emails that match, newest first; unreadCount counts those that match',
    description:
      'A search leaves out trash and junk, unless `folder` names one. Without any parameter it finds everything.',
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
