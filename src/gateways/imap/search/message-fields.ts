// The texts of a message that searches, SORT and THREAD compare: made from its header once and cached with the message.
import { isAscii } from 'node:buffer';
import { characters, decodedBodies, fieldFinder, headerText } from '../../../mail-format/header/field-text.js';
import { type SentDate, sentDate } from '../../../mail-format/header/sent-date.js';
import type { IndexedAddress } from '../../../mail-format/message-index.js';
import { addressList } from '../../../mail-format/mime-index/address-list.js';
import { WordDecoder } from '../../../mail-format/mime-index/header-text.js';
import { DEFAULT_LIMITS } from '../../../mail-format/mime-index/limits.js';
import { type BaseSubject, baseSubject } from '../../../mail-format/threads/base-subject.js';
import type { ThreadedMessage } from '../../../mail-format/threads/thread-forest.js';
import { threadIdsOf } from '../../../mail-format/threads/thread-ids.js';
import { casemapped, searchForm } from '../../../mail-format/words/unicode-casemap.js';
import type { Message, MessageNeeds } from '../messages/message-source.js';

/** A text of a message, and the data that is needed to make it. */
export interface MessageText {
  readonly needs: MessageNeeds;
  readonly isKept: boolean;
  read(message: Message): string;
}

/** Caches the text with the message, so that its header is needed once. `name` never comes from a client. */
function kept(name: string, make: (message: Message) => string): MessageText {
  return { needs: { header: [name] }, isKept: true, read: (message) => message.derived(name, () => make(message)) };
}

/** Fields whose text is cached; with any other, a client could fill the cache with invented names. */
const KEPT_FIELDS = [
  'bcc',
  'cc',
  'from',
  'in-reply-to',
  'list-id',
  'message-id',
  'references',
  'reply-to',
  'sender',
  'subject',
  'to',
];

const ADDRESS_FIELDS = new Set(['bcc', 'cc', 'from', 'reply-to', 'sender', 'to']);

function fieldText(name: string): (message: Message) => string {
  const find = fieldFinder(name);
  return (message) => {
    const bodies = find(message.header);
    const texts = decodedBodies(bodies, message.header, message);
    if (ADDRESS_FIELDS.has(name)) texts.push(...bodies.flatMap((body) => addressesBetweenComments(body, message)));
    return texts.map((text) => `\n${searchForm(text)}`).join('');
  };
}

/** Returns addresses that are missing in the text of a field, because it has comments or white space within them (RFC 5322 §4.4). */
function addressesBetweenComments(body: string, message: Message): readonly string[] {
  if (!/\(|\s[@.]|[@.]\s/.test(body)) return [];
  const { addresses } = addressList(textOf(body, message), DEFAULT_LIMITS.addresses, new WordDecoder());
  return addresses.map(({ address }) => address).filter((address) => address.includes('@') && !body.includes(address));
}

const textOf = (body: string, message: Message): string => characters(body, message.header, message);

const FIELDS: ReadonlyMap<string, MessageText> = new Map(
  KEPT_FIELDS.map((name) => [name, kept(`search ${name}`, fieldText(name))]),
);

/** All fields of the name in search form, each after a line feed; '' when there is none. */
export function searchedField(name: string): MessageText {
  return FIELDS.get(name) ?? { needs: { header: true }, isKept: false, read: fieldText(name) };
}

/** Tells whether the header contains a text, which is given in search form. */
export function isInHeader(message: Message, sought: string): boolean {
  const { header } = message;
  const octets = header.toString('latin1');
  // Encoded words are decoded first, because the base64 of many contains short texts by chance.
  if (!octets.includes('=?')) {
    if (octets.toUpperCase().includes(sought)) return true;
    // Only UTF-8 octets and folded lines differ from their search form.
    if (!sought.includes(' ') && isAscii(header)) return false;
  }
  return searchForm(headerText(header, message)).includes(sought);
}

const findDate = fieldFinder('date');

function dateOf({ header }: Message): SentDate | undefined {
  const [field] = findDate(header);
  return field === undefined ? undefined : sentDate(field);
}

/** Days from the epoch to the day of the Date field; '' without such a field. */
export const SENT_DAY = kept('sent day', (message) => `${dateOf(message)?.day ?? ''}`);

/** ms since the epoch in whole seconds, as INTERNALDATE shows it. */
export const arrivedAt = ({ receivedAt }: Message): number => Math.floor(receivedAt / 1000) * 1000;

/** RFC 5256 §2.2: the Date field in UTC, or else the time of arrival, in ms since the epoch. */
export const SENT_AT = kept('sent at', (message) => `${dateOf(message)?.at ?? arrivedAt(message)}`);

const findSubject = fieldFinder('subject');

function subjectOf(message: Message): BaseSubject {
  const [subject = ''] = decodedBodies(findSubject(message.header).slice(0, 1), message.header, message);
  return baseSubject(subject);
}

/** The base subject in the form in which it is compared. */
export const BASE_SUBJECT = kept('base subject', (message) => casemapped(subjectOf(message).text));

/** '' when the subject is not marked as a reply or a forward. */
const REPLY_MARK = kept('reply mark', (message) => (subjectOf(message).isReplyOrForward ? 're' : ''));

type AddressField = 'from' | 'to' | 'cc';

/** The local part of the first address, or the name of a group (RFC 5256 §3, RFC 9051 §2.3.5). */
export const firstMailbox = (field: AddressField): MessageText =>
  kept(`first mailbox ${field}`, (message) => {
    const first = firstAddress(message, field);
    if (first === undefined) return '';
    const at = first.address.lastIndexOf('@');
    return casemapped(unquoted(at < 0 ? first.address || first.name : first.address.slice(0, at)));
  });

/** The name of the first address, or else the address (RFC 5957 §3). */
export const firstDisplayName = (field: AddressField): MessageText =>
  kept(`first display name ${field}`, (message) => {
    const first = firstAddress(message, field);
    return first === undefined ? '' : casemapped(first.name || unquoted(first.address));
  });

/** Removes quotes as an ENVELOPE does (RFC 9051 §7.5.2). */
const unquoted = (address: string): string =>
  address.replace(/"((?:[^"\\]|\\.)*)"/gs, (_, text: string) => text.replace(/\\(.)/gs, '$1'));

function firstAddress(message: Message, field: AddressField): IndexedAddress | undefined {
  for (const body of fieldFinder(field)(message.header)) {
    const first = addressList(textOf(body, message), 1, new WordDecoder()).addresses[0];
    if (first !== undefined) return first;
  }
  return undefined;
}

const findMessageId = fieldFinder('message-id');
const findReferences = fieldFinder('references');
const findInReplyTo = fieldFinder('in-reply-to');

const THREAD_IDS = kept('thread ids', ({ header }) => {
  const [messageId = ''] = findMessageId(header);
  const [references = ''] = findReferences(header);
  const [inReplyTo = ''] = findInReplyTo(header);
  return threadIdsOf(messageId, references, inReplyTo);
});

export const THREAD_NEEDS: MessageNeeds = {
  header: [SENT_AT, BASE_SUBJECT, REPLY_MARK, THREAD_IDS].flatMap(({ needs }) => names(needs)),
};

/** Returns the names of the texts that are cached. */
export function names({ header }: MessageNeeds): readonly string[] {
  return typeof header === 'object' ? header : [];
}

export function threadedMessageOf(message: Message): ThreadedMessage {
  return {
    ids: THREAD_IDS.read(message),
    sentAt: Number(SENT_AT.read(message)),
    subject: BASE_SUBJECT.read(message),
    isReplyOrForward: REPLY_MARK.read(message) !== '',
  };
}
