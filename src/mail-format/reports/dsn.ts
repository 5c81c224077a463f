// Delivery status notifications (RFC 3464 in a multipart/report of RFC 6522) to the sender of a message that failed or is late: a part for
// people, a part for programs, and the header of the message. Others chose the addresses, the replies of hosts and the header: none of that
// text can end a line, begin a field or close a part.
import type { DsnKind } from '../outbound-status.js';
import { encodeWords, field, foldText, phraseDate, sanitizedLine } from './report-text.js';

interface ReportedRecipient {
  readonly address: string;
  /** The sender's ORCPT: an address type, `;` and an address (RFC 3461 §4.2). */
  readonly orcpt: string | null;
  /** RFC 3463; null when the host gave none. */
  readonly statusCode: string | null;
  /** The reply of the host, or the fault when there is no reply. */
  readonly text: string | null;
  /** The host that replied; null when no host was reached. */
  readonly host: string | null;
  /** The time of the last attempt; null when there was none. */
  readonly attemptedAt: number | null;
}

/** Times are ms since the epoch. */
export interface Dsn {
  /**
   * `failed`: no attempt follows for these recipients. `delayed`: further attempts follow. `delivered`: they have the message. `relayed`: a
   * host that sends no notifications has accepted the message.
   */
  readonly kind: DsnKind;
  /** The host name of the reporting MTA. */
  readonly hostname: string;
  /** A random UUID, used in the Message-ID and in the boundary, so that a sender cannot guess the boundary. */
  readonly id: string;
  readonly now: number;
  /** The sender's ENVID. */
  readonly envid: string | null;
  readonly email: {
    readonly sender: string;
    readonly subject: string;
    readonly messageId: string | null;
    readonly references: readonly string[];
    readonly createdAt: number;
    /** The header of the message, or its beginning. */
    readonly header: Uint8Array;
    /** The whole message, if the sender wants it returned. */
    readonly content: Uint8Array | null;
  };
  /** The recipients that the report names. */
  readonly recipients: readonly ReportedRecipient[];
  /** The recipients that have received the message. */
  readonly delivered: readonly string[];
  /** The time of the last planned attempt, in a report of a delay. */
  readonly retriedUntil: number | null;
}

const CRLF = '\r\n';
const REFERENCES = 20;
/** RFC 5322 §2.1.1, without CRLF. */
const LONGEST_LINE = 998;
const NAMED_DELIVERED = 20;

/** Returns the message, with CRLF line ends. */
export function writeDsn(report: Dsn): Uint8Array {
  const boundary = `report-${report.id.replace(/[^0-9a-z-]/gi, '')}`;
  const parts = [
    part('text/plain; charset=utf-8', true, humanText(report)),
    part('message/delivery-status', false, statusText(report)),
    returnedPart(report.email),
  ];
  const start = Buffer.from(`--${boundary}${CRLF}`);
  const body = parts.flatMap((octets) => [start, octets]);
  const header = Buffer.from(`${messageHeader(report, boundary)}${CRLF}`);
  return Buffer.concat([header, ...body, Buffer.from(`--${boundary}--${CRLF}`)]);
}

/** RFC 6533 §4: a message or header whose header has non-ASCII text has its own media type. */
function returnedPart({ header: octets, content }: Dsn['email']): Uint8Array {
  const header = originalHeader(octets);
  const headerIsAscii = isAscii(header);
  if (content === null)
    return part(headerIsAscii ? 'text/rfc822-headers' : 'message/global-headers', !headerIsAscii, header);
  const isEightBit = content.some((octet) => octet > 127);
  return part(headerIsAscii ? 'message/rfc822' : 'message/global', isEightBit, content);
}

function messageHeader({ kind, hostname, id, now, email }: Dsn, boundary: string): string {
  const host = word(hostname);
  const original = messageId(email.messageId);
  const references = [...email.references.map(messageId), original].filter((text) => text !== undefined);
  return [
    field('Return-Path', ['<>']),
    field('From', ['Mail', 'Delivery', 'System', `<mailer-daemon@${host}>`]),
    field('To', [`<${mailbox(email.sender)}>`]),
    field('Subject', encodeWords(`${TEXTS[kind].subject}: ${sanitizedLine(email.subject) || '(no subject)'}`)),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [`<${word(id)}@${host}>`]),
    ...(original === undefined ? [] : [field('In-Reply-To', [original])]),
    ...(references.length === 0 ? [] : [field('References', references.slice(-REFERENCES))]),
    field('Auto-Submitted', ['auto-replied']),
    field('MIME-Version', ['1.0']),
    field('Content-Type', ['multipart/report;', 'report-type=delivery-status;', `boundary="${boundary}"`]),
  ].join('');
}

function part(type: string, isEightBit: boolean, content: string | Uint8Array): Uint8Array {
  const encoding = isEightBit ? '8bit' : '7bit';
  const header = `Content-Type: ${type}${CRLF}Content-Transfer-Encoding: ${encoding}${CRLF}${CRLF}`;
  const octets = typeof content === 'string' ? Buffer.from(content) : content;
  return Buffer.concat([Buffer.from(header), octets, Buffer.from(CRLF)]);
}

const TEXTS: Readonly<
  Record<DsnKind, { readonly subject: string; readonly opening: string; readonly status: string }>
> = {
  failed: {
    subject: 'Undelivered',
    opening: 'Your message could not be delivered to the recipients below. It is not tried again for them.',
    status: '5.0.0',
  },
  delayed: {
    subject: 'Delayed',
    opening: 'Your message has not been delivered to the recipients below yet. It is tried again',
    status: '4.0.0',
  },
  delivered: {
    subject: 'Delivered',
    opening: 'Your message was delivered to the recipients below.',
    status: '2.0.0',
  },
  relayed: {
    subject: 'Relayed',
    opening:
      'The mail servers of the recipients below have taken your message. They send no notifications: you will not hear whether it was delivered.',
    status: '2.0.0',
  },
};

function humanText(report: Dsn): string {
  const { kind, hostname, email, recipients, delivered, retriedUntil } = report;
  const until = retriedUntil === null ? '' : ` until ${phraseDate(retriedUntil)}`;
  const rest = kind === 'delayed' ? `${until}; you need not do anything.` : '';
  const opening = `${TEXTS[kind].opening}${rest}`;
  const others = delivered.filter((address) => !recipients.some((named) => named.address === address));
  const named = others.slice(0, NAMED_DELIVERED).map((address) => `    ${sanitizedLine(address)}`);
  const unnamed = others.length - named.length;
  if (unnamed > 0) named.push(`    and ${unnamed} more`);
  const paragraphs = [
    foldText(opening),
    `Subject: ${sanitizedLine(email.subject) || '(none)'}${CRLF}Sent:    ${phraseDate(email.createdAt)}`,
    ...recipients.map(recipientText),
    ...(named.length === 0 ? [] : [['It was delivered to:', ...named].join(CRLF)]),
    `Mail Delivery System at ${sanitizedLine(hostname)}`,
  ];
  const lines = paragraphs.join(`${CRLF}${CRLF}`).split(CRLF);
  return `${lines.map(withinLimit).join(CRLF)}${CRLF}`;
}

function recipientText({ address, statusCode, text, host }: ReportedRecipient): string {
  const meaning = meaningOf(statusCode);
  const said = sanitizedLine(text ?? '');
  const quoted = host === null ? said : `${sanitizedLine(host)} said: ${said}`;
  return [
    sanitizedLine(address),
    ...(meaning === undefined ? [] : [foldText(meaning, '    ')]),
    ...(said === '' ? [] : [foldText(quoted, '    ')]),
  ].join(CRLF);
}

function statusText({ kind, hostname, email, envid, recipients, retriedUntil }: Dsn): string {
  const groups = [
    [
      // ENVID is decoded from xtext (RFC 3464 §2.2.1).
      ...(envid === null ? [] : [field('Original-Envelope-Id', ascii(sanitizedLine(envid)).split(' '))]),
      field('Reporting-MTA', ['dns;', word(hostname)]),
      field('Arrival-Date', [phraseDate(email.createdAt)]),
    ],
    ...recipients.map(({ address, orcpt, statusCode, text, host, attemptedAt }) => {
      const said = ascii(sanitizedLine(text ?? ''));
      return [
        ...originalRecipient(orcpt),
        field('Final-Recipient', finalRecipient(address)),
        field('Action', [kind]),
        field('Status', [status(kind, statusCode)]),
        ...(host === null ? [] : [field('Remote-MTA', ['dns;', word(host)])]),
        ...(said === '' ? [] : [field('Diagnostic-Code', [host === null ? 'x-mansio;' : 'smtp;', ...said.split(' ')])]),
        ...(attemptedAt === null ? [] : [field('Last-Attempt-Date', [phraseDate(attemptedAt)])]),
        ...(kind === 'delayed' && retriedUntil !== null ? [field('Will-Retry-Until', [phraseDate(retriedUntil)])] : []),
      ];
    }),
  ];
  return groups.map((fields) => fields.join('')).join(CRLF);
}

/** RFC 3464 §2.3.1. */
function originalRecipient(orcpt: string | null): readonly string[] {
  const [, type, address] = /^([!-:<-~]+);(.*)$/su.exec(orcpt ?? '') ?? [];
  if (type === undefined || address === undefined) return [];
  return [field('Original-Recipient', [`${type};`, ...ascii(sanitizedLine(address)).split(' ')])];
}

/** RFC 3464 §2.3.2; non-ASCII addresses follow RFC 6533 §3. */
function finalRecipient(address: string): readonly string[] {
  const line = sanitizedLine(address);
  if (isAscii(line)) return ['rfc822;', ...line.split(' ')];
  const escaped = line.replace(/[^!-*,-<>-[\]-~]/gu, (c) => `\\x{${c.codePointAt(0)!.toString(16).toUpperCase()}}`);
  return ['utf-8;', escaped];
}

function status(kind: Dsn['kind'], code: string | null): string {
  if (code !== null && /^[245]\.\d{1,3}\.\d{1,3}$/.test(code)) return code;
  return TEXTS[kind].status;
}

/** The meanings of RFC 3463 codes in words. */
const MEANINGS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^5\.1\.[1236]$/, 'There is no such address.'],
  [/^5\.1\.10$/, 'The domain takes no mail.'],
  [/^\d\.2\.1$/, 'The mailbox takes no mail at present.'],
  [/^\d\.2\.2$/, 'The mailbox is full.'],
  [/^\d\.[23]\.[34]$/, 'The message is larger than it may be there.'],
  [/^\d\.3\./, 'A mail system has a fault.'],
  [/^\d\.4\.[1247]$/, 'The mail server of the recipient could not be reached.'],
  [/^\d\.4\.[35]$/, 'The way to the mail server of the recipient could not be found out.'],
  [/^\d\.4\.6$/, 'The message would be in a mail loop.'],
  [/^\d\.7\./, 'The mail server of the recipient does not accept the message for reasons of its policy.'],
];

function meaningOf(code: string | null): string | undefined {
  return code === null ? undefined : MEANINGS.find(([pattern]) => pattern.test(code))?.[1];
}

/** Returns whole lines without the characters that no line may have; a last line that the size limit cut is left out. */
function originalHeader(octets: Uint8Array): string {
  const whole = Buffer.from(octets).toString('utf8').split(/\r?\n/);
  const isCut = whole.at(-1) !== '';
  const kept = isCut ? whole.slice(0, -1) : whole;
  return kept
    .filter((line) => line !== '')
    .map((line) => `${withinLimit(line.replace(/[^\P{Cc}\t]|\p{Cs}/gu, ''))}${CRLF}`)
    .join('');
}

function withinLimit(line: string): string {
  return Buffer.byteLength(line) <= LONGEST_LINE ? line : [...line].slice(0, LONGEST_LINE / 4).join('');
}

/** Returns undefined when the text is not a msg-id, or does not fit in a line. */
function messageId(text: string | null): string | undefined {
  return text !== null && /^<[!-;=?-~]+>$/.test(text) && text.length < LONGEST_LINE / 2 ? text : undefined;
}

/** The result stands in angle brackets. */
function mailbox(address: string): string {
  return sanitizedLine(address).replace(/[<>]/g, '');
}

/** Cleans a host name or an id. */
function word(text: string): string {
  return text.slice(0, 255).replace(/[^0-9a-z._:[\]-]/gi, '?') || 'unknown';
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

function ascii(text: string): string {
  return text.replace(/[^ -~]/gu, '?');
}
