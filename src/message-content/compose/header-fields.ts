// Writes the header fields that hold what people wrote: originator, destinations, subject (RFC 5322 §3.6, RFC 2047). The composer does not
// write them, because it takes ASCII that looks like an encoded word for one. Any reader gets the original values back. They must have no
// control characters: the code that accepts them from a client checks this.
import { encodeWord, foldLines, quoteString } from 'nodemailer/lib/mime-funcs';
import { parseAddress } from '../../mail-format/address.js';
import { foldedHeader, PREFERRED_LINE } from '../../mail-format/header/header-folding.js';
import type { HeaderPair } from '../../mail-format/header/header-pairs.js';
import type { IndexedAddress } from '../../mail-format/message-index.js';
import type { ThreadFields } from '../../mail-format/writing/reply.js';

/** RFC 2047 §2 allows 75 characters per word; this leaves room for the text before it. */
const WORD = 52;
/** RFC 5322 §2.1.1 recommends 78 characters per line; this leaves room for the field's name. */
const LINE = 68;

/** Returns true when the text may stay as it is: ASCII, foldable, and without anything that a reader decodes or folds. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text) && !/=\?| {2}|^ | $|[^ ]{61}/.test(text);

export const subjectField = (subject: string): string =>
  isPlain(subject) ? `${foldLines(`Subject: ${subject}`, 76)}\r\n` : `Subject: ${words(subject)}\r\n`;

/** Writes one mailbox per line; '' for an empty list. The addresses are valid. */
export function addressField(
  name: 'From' | 'Reply-To' | 'To' | 'Cc' | 'Bcc',
  mailboxes: readonly IndexedAddress[],
): string {
  return mailboxes.length === 0 ? '' : `${name}: ${mailboxes.map(mailbox).join(',\r\n ')}\r\n`;
}

/** Ids that are invalid or do not fit in a line are left out. */
export function threadFields({ inReplyTo, references }: ThreadFields): string {
  const [parent = ''] = inReplyTo === null ? [] : [inReplyTo].filter(isWritable);
  const ancestors = references.filter(isWritable);
  return (
    (parent === '' ? '' : `In-Reply-To: ${parent}\r\n`) +
    (ancestors.length === 0 ? '' : `References: ${ancestors.join('\r\n ')}\r\n`)
  );
}

/** Writes the fields that a sender gave; `senderFieldsFault` has accepted them. */
export function senderFields(fields: readonly HeaderPair[]): string {
  const written = fields.map(([name, given]) => {
    const value = given.trim();
    return `${name}: ${/^[ -~]*$/.test(value) && !value.includes('=?') ? value : words(value)}\r\n`;
  });
  return foldedHeader(Buffer.from(written.join(''), 'latin1'), PREFERRED_LINE)!.toString('latin1');
}

const isWritable = (id: string): boolean => /^<[!-;=?-~]{1,900}>$/.test(id);

/** RFC 5322 §3.4: an empty group, for mail with only hidden recipients. */
export const UNDISCLOSED = 'To: undisclosed-recipients:;\r\n';

function mailbox({ name, address }: IndexedAddress): string {
  const { localPart, domain } = parseAddress(address)!;
  const path = `${localPart}@${domain}`;
  if (name === '') return localPart.startsWith('"') ? `<${path}>` : path;
  const phrase = !isPlain(name) ? words(name) : /^[\w ]+$/.test(name) ? name : quoteString(name);
  const fits = phrase.length + path.length <= LINE && !phrase.includes('\r\n');
  return `${phrase}${fits ? '' : '\r\n'} <${path}>`;
}

/** Returns encoded words, one per line. */
function words(text: string): string {
  const latin = text.match(/[A-Za-z]/g)?.length ?? 0;
  return encodeWord(text, latin * 2 > text.length ? 'Q' : 'B', WORD).replaceAll(' ', '\r\n ');
}
