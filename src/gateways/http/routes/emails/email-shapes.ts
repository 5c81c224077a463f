// The structs of emails in REST, and the conversion of the mailbox's replies to them. Strings that a message does not have are empty, never
// null; times are ISO 8601.
import type { Infer } from 'superstruct';
import { nullable, optional } from 'superstruct';
import {
  type EmailListItem,
  emailHead,
  emailListItem,
  encodedOnce,
  type MailboxProtocol,
} from '../../../../actors/mailbox/protocol.js';
import type { Payload, Reply } from '../../../../actors/runtime/protocol.js';
import { RESULTS } from '../../../../mail-format/authentication/authentication-results.js';
import { RECIPIENT_TYPES } from '../../../../mail-format/outbound-status.js';
import { EncodedJson } from '../../encoded-json.js';
import {
  choice,
  dateParameter,
  flag,
  flagParameter,
  leaf,
  list,
  pageParameter,
  pageSizeParameter,
  record,
  text,
  timestamp,
  uuid,
  whole,
} from '../../fields.js';
import { type JsonSchema, named } from '../../openapi/json-schema.js';
import { invalid } from '../../problem.js';
import { folderName } from '../folders/folder-parameters.js';
import { derivedFields, withoutNulls } from './derived-fields.js';

/** The color of a label. */
export const colorText = () => text({ pattern: '^#[0-9A-Fa-f]{6}$', examples: ['#3b82f6'] });

const labelSummary = named('LabelSummary', record({ id: uuid(), name: text(), color: colorText() }));

/** Fields of lists and details that REST shows in another form, or describes. */
const ownHead = {
  id: uuid(),
  fromIsEnvelopeSender: optional(
    flag({
      description: 'Present and true when the message names no author: `fromAddress` is the sender of its envelope',
    }),
  ),
  receivedAt: timestamp(),
  threadId: uuid(),
  folderIds: list(uuid({ description: 'Ids of every folder that holds it, labels included' })),
  labels: list(labelSummary),
};

export const namedMailbox = named('Mailbox', record({ address: text(), displayName: text() }));

/** Names and values of the fields of a header. */
export const headerPairList = (notes: JsonSchema) =>
  leaf<[name: string, value: string][]>(
    'headerPairs',
    (value) => Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2),
    notes,
  );

const verdict = () =>
  record({ result: choice(...RESULTS), domain: text({ description: 'Domain that was checked; empty for none' }) });

const rowEmail = named(
  'ThreadRowEmail',
  record({ id: uuid(), isRead: flag(), isFlagged: flag(), folderIds: list(uuid()) }),
);

const emailItem = named(
  'EmailListItem',
  record(
    derivedFields(emailListItem.schema, {
      ...ownHead,
      previewText: text({ description: 'The beginning of the text' }),
      outboundId: optional(uuid({ description: 'Id of the outbound email whose copy in Sent this is' })),
      draftId: optional(uuid({ description: 'Id of the draft, for an email in Drafts' })),
      to: optional(list(namedMailbox)),
      thread: optional(
        named(
          'ThreadRow',
          record({
            senders: list(namedMailbox),
            count: whole({ description: 'How many emails the row has' }),
            emails: list(rowEmail),
          }),
          {
            description:
              'With `groupByThread`, where the folder has several emails of the thread: their number; the 19 newest ones and the first one, the newest first (`GET /api/emails/search/ids` with `rowsOf` gives all); and the senders of the first and the newest ones, oldest first. The item shows the newest one; `isRead`, `isFlagged`, `hasAttachments`, `folderIds` and `labels` are those of all',
          },
        ),
      ),
    }),
  ),
);

export const emailPage = named(
  'EmailPage',
  record({ items: list(emailItem), totalCount: whole(), unreadCount: whole(), page: whole(), pageSize: whole() }),
);

export const attachment = named(
  'Attachment',
  record({
    id: uuid(),
    fileName: text(),
    contentType: text(),
    size: whole(),
    sizeBytes: whole(),
    contentId: optional(text({ description: 'Name that `cid:` links in the html use for it' })),
    charset: optional(text({ description: 'Charset of text, where its sender has declared one' })),
    method: optional(text({ description: 'For text/calendar: what an invitation asks for, such as REQUEST' })),
  }),
);

export const recipient = named(
  'Recipient',
  record({ id: uuid(), address: text(), displayName: text(), type: choice(...RECIPIENT_TYPES) }),
);

export const emailDetail = named(
  'EmailDetail',
  record({
    ...derivedFields(emailHead, ownHead),
    date: nullable(timestamp({ description: 'Time of its Date field; null when that is missing or no date' })),
    replyTo: list(namedMailbox),
    headers: headerPairList({
      description: 'Name and value of each field of its header, in order: unfolded, with encoded words as they came',
    }),
    authentication: named('Authentication', record({ spf: verdict(), dkim: verdict(), dmarc: verdict() }), {
      description: 'What the MX found; `none` for mail that came another way',
    }),
    toAddresses: list(text()),
    ccAddresses: list(text()),
    textBody: text({ description: 'Empty when there is none' }),
    htmlBody: text({ description: 'The html as it was sent: not made safe to show' }),
    inReplyTo: text(),
    references: text({ description: 'Message ids, separated by spaces' }),
    attachments: list(attachment),
    recipients: list(recipient),
    isPartial: optional(
      flag({ description: 'Present and true when a limit was hit: bodies or headers are not whole' }),
    ),
  }),
);

/** Query: the time at which an email was received. */
export const period = {
  fromDate: optional(
    dateParameter({ description: 'Received then or later: an ISO 8601 date or date-time, UTC by default' }),
  ),
  toDate: optional(dateParameter({ description: 'Received then or earlier; a date without a time includes that day' })),
};

/** Query: one folder. */
export const folderParameter = optional(folderName());

export function folderOf(folder: string | undefined): { readonly folder?: string } {
  return folder === undefined ? {} : { folder };
}

export const noSuchFolder = () => invalid({ folder: ['names no folder of this account'] });

export const noSuchLabel = () => invalid({ label: ['names no label of this account'] });

export const searchTooLarge = () =>
  invalid({ q: ['has words of too many emails for a search; use words that fewer have'] });

export const paging = { page: pageParameter(), pageSize: pageSizeParameter(20) };

/** Query: which emails of a folder a list shows. */
export const listing = {
  ...paging,
  isRead: optional(flagParameter()),
  isFlagged: optional(flagParameter()),
  sort: optional(choice('date', '-date', 'from', '-from', 'subject', '-subject', 'size', '-size')),
};

/** Query: whether a list has a row per thread. */
export const grouping = {
  groupByThread: optional(
    flagParameter({
      description:
        'Emails of a thread are one item, at the place of the newest one, with `thread`; up to 100 emails each. `totalCount` counts items, `unreadCount` emails. Only in orders by date',
    }),
  ),
};

export const ungroupable = () => invalid({ groupByThread: ['needs an order by date'] });

/** Whether a list by threads is asked for in an order that has none. */
export function isUngroupable({ groupByThread, sort = '-date' }: Partial<Listing>): boolean {
  return groupByThread === true && sort !== 'date' && sort !== '-date';
}

type Listing = Omit<Payload<MailboxProtocol, 'list'>, 'folder' | 'fromAddress'>;

/** Converts the parameters of `listing` to the payload of the mailbox. */
export function listingOf({ page, pageSize, isRead, isFlagged, sort, groupByThread }: Listing): Listing {
  return {
    page,
    pageSize,
    ...(isRead !== undefined && { isRead }),
    ...(isFlagged !== undefined && { isFlagged }),
    ...(sort !== undefined && { sort }),
    ...(groupByThread === true && { groupByThread }),
  };
}

export function pageOf(
  reply: Reply<MailboxProtocol, 'list'>,
  query: { readonly page: number; readonly pageSize: number },
): EncodedJson<Infer<typeof emailPage>> {
  const items = reply.items.map((item) => encodedOnce(item, itemJson)).join(',');
  const { totalCount, unreadCount } = reply;
  const { page, pageSize } = query;
  const rest = JSON.stringify({ totalCount, unreadCount, page, pageSize });
  return new EncodedJson(`{"items":[${items}],${rest.slice(1)}`);
}

function itemJson(item: EmailListItem): string {
  const json: Infer<typeof emailItem> = shown(item);
  return JSON.stringify(json);
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** An email of the mailbox in the form of REST; only the time and nulls change. */
export function shown<E extends { readonly receivedAt: number }>(email: E) {
  return { ...withoutNulls(email), receivedAt: isoTime(email.receivedAt) };
}
