// The status of a recipient (RFC 3464 §2.3.3), from the reply of a remote host or from a fault: delivered, temporary or permanent, with an
// enhanced status code (RFC 3463, RFC 5248) and one line of text that is safe to store and to show. No other code judges replies and
// faults; the schedule of attempts is decided elsewhere.
import type { OutcomeKind } from '../outbound-status.js';

/** The command that the host replied to: the connection, EHLO or HELO, MAIL, RCPT, DATA, or the final dot of the message. */
export type Stage = 'greeting' | 'hello' | 'mail' | 'rcpt' | 'data' | 'message';

export interface DeliveryStatus {
  readonly kind: OutcomeKind;
  readonly statusCode: string;
  /** One line without control characters, at most 500 characters. */
  readonly text: string;
}

/** Faults: the attempt ended without a reply that decides the status. */
const FAULTS = {
  /** DNS gave no answer. */
  dns: '4.4.3',
  'no-domain': '5.1.2',
  /** RFC 7505 §4.1. */
  'null-mx': '5.1.10',
  /** There are MX records, but their hosts have no address. */
  'no-host': '5.4.4',
  'bad-address': '5.1.3',
  /** Mail is not sent to private, loopback, link-local and similar addresses. */
  'private-host': '5.4.6',
  'own-host': '5.4.6',
  unreachable: '4.4.1',
  /** The connection was lost, or a reply did not come in time. */
  lost: '4.4.2',
  /** The remote does not speak SMTP. */
  protocol: '4.5.0',
  /** RFC 8461 §5: the policy of the domain forbids the delivery. */
  'sts-host': '4.7.0',
  'sts-no-tls': '4.7.4',
  'sts-certificate': '4.7.5',
  /** The smart host cannot be used as it is set up (RFC 3463 §3.4: system incorrectly configured). */
  relay: '4.3.5',
  /** The smart host does not accept the credentials: the message waits until they are mended. */
  'relay-login': '4.7.8',
  'too-large': '5.3.4',
  'no-8bitmime': '5.6.3',
  'no-smtputf8': '5.6.7',
  /** The attempt took too long, or the node stops. */
  ended: '4.4.2',
  /** The stored message could not be read. */
  unread: '4.3.0',
} as const;

export type DeliveryFault = keyof typeof FAULTS;

/** The status of a reply without an enhanced status code: RFC 5321 §4.2.3, §4.2.2 and RFC 7504. */
const BY_CODE: Readonly<Record<string, string>> = {
  '421': '4.3.2',
  '432': '4.7.12',
  '450': '4.2.0',
  '451': '4.3.0',
  '452': '4.3.1',
  '454': '4.7.0',
  '455': '4.5.4',
  '500': '5.5.2',
  '501': '5.5.4',
  '502': '5.5.1',
  '503': '5.5.1',
  '504': '5.5.4',
  '521': '5.3.2',
  '523': '5.7.10',
  '530': '5.7.0',
  '535': '5.7.8',
  '550': '5.0.0',
  '551': '5.1.6',
  '552': '5.3.4',
  '553': '5.1.3',
  '555': '5.5.4',
  '556': '5.1.10',
};
/** Replies whose meaning depends on the command. */
const BY_STAGE: Readonly<Record<string, string>> = {
  'mail 550': '5.1.0',
  'mail 553': '5.1.7',
  'rcpt 452': '4.5.3',
  'rcpt 550': '5.1.1',
  'message 550': '5.6.0',
};

const REPLY = /^([2-5]\d\d)(?:[ -](?:([245])\.(\d{1,3})\.(\d{1,3})(?= |$))?|$)/;
/** The reply code decides, whatever separates it from the text (RFC 5321 §4.2): a message that was accepted is not sent again. */
const VERDICT = /^([2-5]\d\d)(?:[ -]([245])\.(\d{1,3})\.(\d{1,3})(?= |$)|(?!\d))/;
const LONGEST_TEXT = 500;
/** Control characters, line separators, and invisible characters that change the writing direction or hide text. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+/gu;

/** `reply` is the reply as received, its lines separated by line feeds. */
export function replyStatus(reply: string, stage: Stage): DeliveryStatus {
  const text = replyText(reply);
  const match = hasOneClass(reply) ? (stage === 'message' ? VERDICT : REPLY).exec(text) : null;
  const code = codeOf(match, stage);
  const wanted = stage === 'message' && code.startsWith('2') ? 'delivered' : undefined;
  const kind = wanted ?? (code.startsWith('4') ? 'temporary' : code.startsWith('5') ? 'permanent' : undefined);
  if (match === null || kind === undefined) return { kind: 'temporary', statusCode: FAULTS.protocol, text };
  const [, , , subject, detail] = match;
  // The reply code decides the class: the two differ only by mistake (RFC 2034 §4).
  const given = subject === undefined ? undefined : `${code[0]}.${Number(subject)}.${Number(detail)}`;
  const made = BY_STAGE[`${stage} ${code}`] ?? BY_CODE[code] ?? `${code[0]}.0.0`;
  return { kind, statusCode: given ?? made, text };
}

/** RFC 5321 §4.5.3.1.10: 552 to RCPT means 452. */
function codeOf(match: RegExpExecArray | null, stage: Stage): string {
  const code = match?.[1] ?? '';
  return stage === 'rcpt' && code === '552' ? '452' : code;
}

/** `detail` describes the fault in words. */
export function faultStatus(fault: DeliveryFault, detail: string): DeliveryStatus {
  const statusCode = FAULTS[fault];
  return { kind: statusCode.startsWith('5') ? 'permanent' : 'temporary', statusCode, text: replyText(detail) };
}

/** Returns true when a reply to RCPT means that the transaction has too many recipients (RFC 5321 §4.5.3.1.10). */
export function isRecipientLimit(reply: string): boolean {
  const match = REPLY.exec(replyText(reply));
  const [, , , subject, detail] = match ?? [];
  const code = codeOf(match, 'rcpt');
  if (subject === '5' && detail === '3') return /^45[0-2]$/.test(code);
  return code === '452' && subject === undefined;
}

/**
 * Returns true when all lines of a reply have a code of the class of the first: servers do not always repeat the code (RFC 5321 §4.2.1).
 */
export function hasOneClass(reply: string): boolean {
  const [first = '', ...more] = reply.split(/\r?\n/);
  return more.every((line) => line[0] === first[0] && /^\d{3}(?:[ -]|$)/.test(line));
}

/** Returns true when the host closes the connection: it gets no new one for some time (RFC 5321 §3.8). */
export function isClosing(reply: string): boolean {
  return /^421(?:[ -]|$)/.test(reply);
}

/** Joins a reply into one line; a code that every line repeats is kept once. */
export function replyText(reply: string): string {
  // The result is cut to LONGEST_TEXT, so lines beyond this limit are not read.
  const [first = '', ...more] = reply.slice(0, 8 * LONGEST_TEXT).split(/\r?\n/);
  const [, code, enhanced = ''] = /^(\d{3})[ -](\d\.\d{1,3}\.\d{1,3} )?/.exec(first) ?? [];
  const rest = more.map((line) => {
    if (code === undefined || !line.startsWith(code)) return line;
    const text = line.slice(code.length + 1);
    return enhanced !== '' && text.startsWith(enhanced) ? text.slice(enhanced.length) : text;
  });
  const head = code === undefined ? first : `${code} ${first.slice(4)}`;
  const line = [head, ...rest].join(' ').replace(UNSAFE, ' ').replace(/ {2,}/g, ' ').trim();
  const characters = [...line];
  return characters.length <= LONGEST_TEXT ? line : `${characters.slice(0, LONGEST_TEXT - 1).join('')}…`;
}
