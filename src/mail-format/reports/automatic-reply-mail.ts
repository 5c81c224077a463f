// Writes an automatic reply (RFC 3834 §3.1) with a text, an HTML body, both, or a MIME entity that a script gives. Its fields are made of what
// others wrote: one line stays one line.
import { encodeWords, field, phraseDate, sanitizedLine } from './report-text.js';

const CRLF = '\r\n';
/** RFC 2045 §6.8. */
const LINE = 76;
const MESSAGE_ID = /^<[!-;=?-~]{1,500}>$/;
const MOST_REFERENCES = 20;

export interface ReplyMail {
  /** The display name of the author. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  /** The body in place of the others, with its own header (RFC 5230 §4.1). */
  readonly entity?: string | undefined;
  readonly hostname: string;
  /** A random UUID, for the Message-ID and the boundary. */
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
}

/** Returns the message, with CRLF line ends. */
export function writeAutomaticReply(mail: ReplyMail): Uint8Array {
  const { from, to, name, subject, hostname, id, now } = mail;
  const phrase = /^[\w ]+$/.test(name) ? name.split(' ') : quotedWords(name);
  const references = mail.references.filter((one) => MESSAGE_ID.test(one)).slice(-MOST_REFERENCES);
  const parent = mail.inReplyTo !== null && MESSAGE_ID.test(mail.inReplyTo) ? mail.inReplyTo : undefined;
  const header = [
    field('From', [...phrase, `<${sanitizedLine(from)}>`]),
    field('To', [`<${sanitizedLine(to)}>`]),
    field('Subject', encodeWords(subject)),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [`<${id}@${sanitizedLine(hostname)}>`]),
    ...(parent === undefined ? [] : [field('In-Reply-To', [parent])]),
    ...(references.length === 0 ? [] : [field('References', references)]),
    field('Auto-Submitted', ['auto-replied']),
    field('MIME-Version', ['1.0']),
  ];
  return Buffer.from(header.join('') + (mail.entity === undefined ? bodyOf(mail) : entityOf(mail.entity)));
}

/** Words of a display name with characters that a phrase may not have. */
function quotedWords(name: string): readonly string[] {
  const words = encodeWords(name).filter((word) => word !== '');
  if (words.length === 0 || words[0]!.startsWith('=?')) return words;
  return [`"${words.join(' ').replaceAll(/["\\]/g, '\\$&')}"`];
}

function bodyOf({ textBody, htmlBody, id }: ReplyMail): string {
  const parts = [
    ...(textBody === null ? [] : [part('plain', textBody)]),
    ...(htmlBody === null ? [] : [part('html', htmlBody)]),
  ];
  if (parts.length === 1) return parts[0]!;
  const boundary = `reply-${id}`;
  const delimited = parts.map((one) => `--${boundary}${CRLF}${one}`).join('');
  return `${field('Content-Type', ['multipart/alternative;', `boundary="${boundary}"`])}${CRLF}${delimited}--${boundary}--${CRLF}`;
}

/** Only fields that describe the content may be given. */
const CONTENT_FIELD = /^content-[a-z-]+:/i;
/** RFC 5322 §2.1.1. */
const LONGEST_LINE = 998;

/** Returns the fields of the entity that describe its content, and its body. */
function entityOf(text: string): string {
  const entity = text.replaceAll(/\r\n|\r|\n/g, CRLF).replaceAll('\0', '');
  const at = entity.startsWith(CRLF) ? 0 : entity.indexOf(CRLF + CRLF);
  const [header, body] = at < 0 ? [entity, ''] : [entity.slice(0, at), entity.slice(at === 0 ? 2 : at + 4)];
  const isShort = (given: string) => given.split(CRLF).every((line) => Buffer.byteLength(line) <= LONGEST_LINE);
  const fields = header
    .split(/\r\n(?![ \t])/)
    .filter((given) => CONTENT_FIELD.test(given) && isShort(given) && /^[ -~\t\r\n]*$/.test(given));
  const isDeclared = fields.some((given) => /^content-transfer-encoding:/i.test(given));
  if (!isDeclared && /[^\0-\x7f]/.test(body)) fields.push('Content-Transfer-Encoding: 8bit');
  return [...fields, '', body].join(CRLF);
}

export function part(subtype: 'plain' | 'html', text: string): string {
  const octets = Buffer.from(text.replaceAll(/\r\n|\r|\n/g, CRLF)).toString('base64');
  const lines = octets.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [''];
  return [
    field('Content-Type', [`text/${subtype};`, 'charset=utf-8']),
    field('Content-Transfer-Encoding', ['base64']),
    `${CRLF}${lines.join(CRLF)}${CRLF}`,
  ].join('');
}
