// The originators of a message (RFC 5322 §3.6.2), read strictly: a header that a reader could read in another way is refused, although the
// index reads it leniently. The directory decides who owns the addresses.

import { addressList } from '../mime-index/address-list.js';
import type { HeaderFields } from '../mime-index/header-fields.js';
import { WordDecoder } from '../mime-index/header-text.js';
import { ADDRESS, addressSkeleton, trimmedItem } from './address-skeleton.js';

/** `missing`: there is no From. `malformed`: a field is repeated, or is not a list of mailboxes. */
export type OriginatorFault = 'missing' | 'malformed' | 'senderNeeded';

/** The most characters of a field. It limits the time that the expressions below take. */
const LONGEST_FIELD = 4096;
const MAILBOXES = 50;
const MAILBOX = new RegExp(`^(?:[^<>@,;:"()]*<${ADDRESS}>|${ADDRESS})$`);

/** Returns every address of From and Sender. */
export function originators(header: HeaderFields): readonly string[] | OriginatorFault {
  const [from, ...others] = header.all('from');
  if (from === undefined) return 'missing';
  const [sender, ...more] = header.all('sender');
  if (others.length > 0 || more.length > 0) return 'malformed';
  const authors = mailboxes(from);
  const agents = sender === undefined ? [] : mailboxes(sender);
  if (authors === undefined || agents === undefined || agents.length > 1) return 'malformed';
  if (authors.length > 1 && agents.length === 0) return 'senderNeeded';
  return [...authors, ...agents];
}

function mailboxes(field: string): readonly string[] | undefined {
  if (field.length > LONGEST_FIELD) return undefined;
  const items = addressSkeleton(field).split(',');
  if (!items.every((item) => MAILBOX.test(trimmedItem(item)))) return undefined;
  const { addresses, truncated } = addressList(field, MAILBOXES, new WordDecoder());
  if (truncated || addresses.length !== items.length) return undefined;
  return addresses.map(({ address }) => address);
}
