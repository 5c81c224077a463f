// The header fields that hold what people wrote: originator, destinations, subject (RFC 5322 §3.6, RFC 2047). Written here
// and not by the composer, which takes ASCII that looks like an encoded word for one. The values come back from any reader
// as they went in; they may not hold control characters, which whoever takes them from a client sees to.
import { encodeWord, foldLines, quoteString } from 'nodemailer/lib/mime-funcs';
import { parseAddress } from '../mail/address.js';
import { foldedHeader, PREFERRED_LINE } from '../mail/header-folding.js';
import type { HeaderPair } from '../mail/header-pairs.js';
import type { IndexedAddress } from '../mail/message-index.js';
import type { ThreadFields } from '../mail/reply.js';

/** RFC 2047 §2 has 75 characters a word; with room for what stands before it. */
const WORD = 52;
/** RFC 5322 §2.1.1 has 78 characters a line; with room for the field's name. */
const LINE = 68;

/** Text that may stand as it is: ASCII, foldable, and nothing that a reader decodes or folds away. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text) && !/=\?| {2}|^ | $|[^ ]{61}/.test(text);

export const subjectField = (subject: string): string =>
  isPlain(subject) ? `${foldLines(`Subject: ${subject}`, 76)}\r\n` : `Subject: ${words(subject)}\r\n`;

/** One mailbox a line; '' for an empty list. Addresses are valid. */
export function addressField(
  name: 'From' | 'Reply-To' | 'To' | 'Cc' | 'Bcc',
  mailboxes: readonly IndexedAddress[],
): string {
  return mailboxes.length === 0 ? '' : `${name}: ${mailboxes.map(mailbox).join(',\r\n ')}\r\n`;
}

/** Ids that would not fit into a line, or are none, are left out. */
export function threadFields({ inReplyTo, references }: ThreadFields): string {
  const [parent = ''] = inReplyTo === null ? [] : [inReplyTo].filter(isWritable);
  const ancestors = references.filter(isWritable);
  return (
    (parent === '' ? '' : `In-Reply-To: ${parent}\r\n`) +
    (ancestors.length === 0 ? '' : `References: ${ancestors.join('\r\n ')}\r\n`)
  );
}

/** Fields that a sender gave, which `senderFieldsFault` has nothing against. */
export function senderFields(fields: readonly HeaderPair[]): string {
  const written = fields.map(([name, given]) => {
    const value = given.trim();
    return `${name}: ${/^[ -~]*$/.test(value) && !value.includes('=?') ? value : words(value)}\r\n`;
  });
  return foldedHeader(Buffer.from(written.join(''), 'latin1'), PREFERRED_LINE)!.toString('latin1');
}

const isWritable = (id: string): boolean => /^<[!-;=?-~]{1,900}>$/.test(id);

/** RFC 5322 §3.4: an empty group, for mail that all get in secret. */
export const UNDISCLOSED = 'To: undisclosed-recipients:;\r\n';

function mailbox({ name, address }: IndexedAddress): string {
  const { localPart, domain } = parseAddress(address)!;
  const path = `${localPart}@${domain}`;
  if (name === '') return localPart.startsWith('"') ? `<${path}>` : path;
  const phrase = !isPlain(name) ? words(name) : /^[\w ]+$/.test(name) ? name : quoteString(name);
  const fits = phrase.length + path.length <= LINE && !phrase.includes('\r\n');
  return `${phrase}${fits ? '' : '\r\n'} <${path}>`;
}

/** Encoded words, one a line. */
function words(text: string): string {
  const latin = text.match(/[A-Za-z]/g)?.length ?? 0;
  return encodeWord(text, latin * 2 > text.length ? 'Q' : 'B', WORD).replaceAll(' ', '\r\n ');
}
