// A bounce: the report of another host that it could not deliver a message after all (RFC 3464, or the text of a server that does not write
// such reports). This file finds the Message-ID of the returned message and the recipients that failed. bounce-source.ts decides whether
// the report is believed. The functions are pure; all their input was written by others.
import { parseAddress } from '../address.js';
import { textOf } from '../decode/part-text.js';
import type { IndexedPart, MessageIndex } from '../message-index.js';
import { sanitizedLine } from './report-text.js';

interface FailedRecipient {
  /** The address in lower case, as the host has it and as the sender wrote it. */
  readonly addresses: string[];
  /** The address to which the host could not deliver, likewise, where a report says it (RFC 3464 §2.3.2). */
  readonly finals?: string[];
  /** An enhanced status code of class 5 (RFC 3463). */
  readonly statusCode: string;
  /** One line. */
  readonly text: string;
}

export interface Bounce {
  /** The Message-ID of the returned message, with angle brackets. */
  readonly messageId: string;
  readonly recipients: FailedRecipient[];
}

/** The octets of a message that are read at most. */
export const BOUNCE_OCTETS = 256 * 1024;
const MOST_RECIPIENTS = 100;
const LONGEST_TEXT = 500;
const LONGEST_FIELD = 4 * LONGEST_TEXT;
const LONGEST_ID = 500;
const MESSAGE_ID = /^message-id:\s*(<[^<>\s]{1,498}>)/im;
const STATUS = /\b5\.\d{1,3}\.\d{1,3}\b/;
/** Matches reply codes and the words of many servers for a failure; white space has become blanks. */
const FAILED =
  /\b55\d\b|\b5\.\d+\.\d+\b|undeliver|permanent|fail|returned to sender|unable to deliver|n[o'’]t (?:been |be |able to )*(?:deliver|reach)|no such user/i;
const WAITS = /\bdelayed\b|warning|will be retried|still (?:be )?trying|not yet been|need not|do not need to/i;
/** Matches the line at which the server's text ends and the returned message begins. */
const COPY =
  /^[- ]*(?:below this line is a copy|this is a copy of|original message|included is a copy|returned message|message header)/im;
/** Used when there is no such line: the Message-ID is in a block that has other header fields too. */
const COPIED_FIELD = /^(?:received|return-path|from|to|date|subject):/im;
const ADDRESS = /<?([^\s<>()":,;]{1,64}@[^\s<>()":,;]{1,255})>?/g;

/** Returns undefined when the message is not a bounce. `octets` is the beginning of the message, `sender` that of its envelope. */
export function readBounce(octets: Buffer, { root }: Pick<MessageIndex, 'root'>, sender: string): Bounce | undefined {
  const report = reportIn(root);
  if (report === undefined && sender !== '') return undefined;
  const { type, parts: inside } = report ?? root;
  const parts = type === 'multipart' ? inside : [root];
  const status = parts.find(({ type, subtype }) => type === 'message' && /^(?:global-)?delivery-status$/.test(subtype));
  const recipients = status === undefined ? fromText(octets, root, parts) : fromStatus(textOfPart(octets, status));
  const messageId = returnedId(octets, parts);
  if (messageId === undefined || messageId.length > LONGEST_ID || recipients.length === 0) return undefined;
  return { messageId, recipients: recipients.slice(0, MOST_RECIPIENTS) };
}

/** Finds the report in the message or in one of its parts: a filter may have put it next to a text of its own. */
function reportIn(part: IndexedPart): IndexedPart | undefined {
  const { type, subtype, params, parts } = part;
  if (type !== 'multipart') return undefined;
  const isReport = subtype === 'report' && params['report-type']?.toLowerCase() === 'delivery-status';
  return isReport ? part : parts.map(reportIn).find((found) => found !== undefined);
}

/** Reads the groups of a delivery-status (RFC 3464 §2.3) that say `failed`. */
function fromStatus(text: string): FailedRecipient[] {
  const groups = text.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n[ \t]*\r?\n/);
  return groups.flatMap((group) => {
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(group)?.[1]?.slice(0, LONGEST_FIELD).trim();
    if (!/^failed\b/i.test(field('Action') ?? '')) return [];
    const [original, final] = ['Original-Recipient', 'Final-Recipient'].map((name) => addressesOf(field(name) ?? ''));
    const addresses = [...original!, ...final!];
    // A list or an alias keeps the original recipient when it sends a message on: its member fails, not the list.
    const finals = field('Final-Recipient') === undefined ? original! : final!;
    const said = field('Diagnostic-Code')?.replace(/^[^;]*;\s*/, '') ?? field('Status') ?? '';
    if (addresses.length === 0) return [];
    return [{ ...failed(addresses, STATUS.exec(field('Status') ?? '')?.[0], said), finals }];
  });
}

/** Reads `rfc822; <a@b.test> (comment)`. Some servers repeat the xtext of RFC 3461 without decoding it. */
function addressesOf(field: string): string[] {
  const written = field
    .replace(/^[^;]*;\s*/, '')
    .replace(/\s*\([^()]*\)$/, '')
    .replace(/^<(.*)>$/, '$1');
  const decoded = written.replace(/\+([0-9A-F]{2})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
  return [...new Set([written, decoded])].flatMap((text) => {
    const address = parseAddress(text);
    return address === undefined ? [] : [`${address.localPart}@${address.domain}`.toLowerCase()];
  });
}

/** Finds each address that the text names before the copy of the message, with the text that follows it (qmail, Exim and others). */
function fromText(octets: Buffer, root: IndexedPart, parts: readonly IndexedPart[]): FailedRecipient[] {
  const plain = parts.find(({ type, subtype }) => type === 'text' && subtype === 'plain');
  if (plain === undefined) return [];
  const text = partedText(textOfPart(octets, plain)).said;
  const subject = /^subject:.*$/im.exec(octets.toString('latin1', root.headerStart, root.bodyStart))?.[0] ?? '';
  const words = text.replace(/\s+/g, ' ');
  if (!FAILED.test(words) || WAITS.test(`${subject} ${words}`)) return [];
  const named = [...text.matchAll(ADDRESS)].slice(0, MOST_RECIPIENTS).flatMap((found) => {
    const parsed = parseAddress(found[1]!.replace(/\.$/, ''));
    const end = found.index + found[0].length;
    return parsed === undefined
      ? []
      : [{ address: `${parsed.localPart}@${parsed.domain}`.toLowerCase(), start: found.index, end }];
  });
  // The text about an address may name it again.
  const first = named.filter(({ address }, i) => address !== named[i - 1]?.address);
  return first.map(({ address, end }, i) => {
    const said = text.slice(end, first[i + 1]?.start).replace(/^[>:\s]+/, '');
    return failed([address], STATUS.exec(said)?.[0], said);
  });
}

/** Divides the server's text from the copy of the message that follows; the copy is '' when there is none. */
function partedText(text: string): { readonly said: string; readonly copy: string } {
  const at = COPY.exec(text)?.index ?? headerAt(text) ?? text.length;
  return { said: text.slice(0, at), copy: text.slice(at) };
}

function headerAt(text: string): number | undefined {
  for (const { 0: block, index } of text.matchAll(/(?:[^\r\n]+\r?\n?)+/g)) {
    if (MESSAGE_ID.test(block) && COPIED_FIELD.test(block)) return index;
  }
  return undefined;
}

function failed(addresses: string[], statusCode: string | undefined, said: string): FailedRecipient {
  const text = [...sanitizedLine(said.slice(0, 8 * LONGEST_TEXT).replace(/\s+/g, ' '))].slice(0, LONGEST_TEXT).join('');
  return {
    addresses,
    statusCode: statusCode ?? '5.0.0',
    text: text || 'the host reports that the message was not delivered',
  };
}

/** Reads the Message-ID from the part that is the message or its header, otherwise from the copy in the text. */
function returnedId(octets: Buffer, parts: readonly IndexedPart[]): string | undefined {
  const returned = parts.find(({ type, subtype }) =>
    /^(?:message\/(?:rfc822|global|global-headers)|text\/rfc822-headers)$/.test(`${type}/${subtype}`),
  );
  if (returned?.envelope?.messageId) return returned.envelope.messageId;
  const text = returned ?? parts.find(({ type, subtype }) => type === 'text' && subtype === 'plain');
  if (text === undefined) return undefined;
  const whole = textOfPart(octets, text).replace(/\r?\n[ \t]+/g, ' ');
  return MESSAGE_ID.exec(returned === undefined ? partedText(whole).copy : whole)?.[1];
}

function textOfPart(octets: Buffer, part: IndexedPart): string {
  return textOf(part, octets.subarray(part.bodyStart, Math.min(part.bodyEnd, octets.length)));
}
