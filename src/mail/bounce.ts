// A bounce: the report of another host that it could not deliver a message after all (RFC 3464, and the texts of servers that do
// not write such reports). Finds the Message-ID that comes back and the recipients that failed. Whether the report is to be
// believed is decided elsewhere. Pure; everything here was written by others.
import { parseAddress } from './address.js';
import { textOf } from './decode/part-text.js';
import type { IndexedPart, MessageIndex } from './message-index.js';
import { sanitizedLine } from './report-text.js';

interface FailedRecipient {
  /** Lower case; as the host has it, or as the sender had it. */
  readonly addresses: string[];
  /** Enhanced status code of class 5 (RFC 3463). */
  readonly statusCode: string;
  /** One line. */
  readonly text: string;
}

export interface Bounce {
  /** The Message-ID of the message that comes back, with angle brackets. */
  readonly messageId: string;
  readonly recipients: FailedRecipient[];
}

/** Octets of a message that are looked at. */
export const BOUNCE_OCTETS = 256 * 1024;
const MOST_RECIPIENTS = 100;
const LONGEST_TEXT = 500;
const LONGEST_ID = 500;
const MESSAGE_ID = /^message-id:\s*(<[^<>\s]{1,498}>)/im;
const STATUS = /\b5\.\d{1,3}\.\d{1,3}\b/;
const FAILED =
  /undeliver|permanent|fail|returned to sender|could ?n[o']t be delivered|no such user|\b55\d\b|\b5\.\d+\.\d+\b/i;
const WAITS = /\bdelayed\b|warning|will be retried|still (?:be )?trying|not yet been|need not|do not need to/i;
/** Where the text of a server ends and the message that comes back begins. */
const COPY =
  /^[- ]*(?:below this line is a copy|this is a copy of|original message|included is a copy|returned message|message header)/im;
const ADDRESS = /<?([^\s<>()":,;]{1,64}@[^\s<>()":,;]{1,255})>?/g;

/** Undefined for a message that is none. `octets`: its beginning; `sender`: of its envelope. */
export function readBounce(octets: Buffer, { root }: Pick<MessageIndex, 'root'>, sender: string): Bounce | undefined {
  const parts = root.type === 'multipart' ? root.parts : [root];
  const isReport = root.subtype === 'report' && root.params['report-type']?.toLowerCase() === 'delivery-status';
  if (!isReport && sender !== '') return undefined;
  const status = parts.find(({ type, subtype }) => type === 'message' && /^(?:global-)?delivery-status$/.test(subtype));
  const recipients = status === undefined ? fromText(octets, root, parts) : fromStatus(textOfPart(octets, status));
  const messageId = returnedId(octets, parts);
  if (messageId === undefined || messageId.length > LONGEST_ID || recipients.length === 0) return undefined;
  return { messageId, recipients: recipients.slice(0, MOST_RECIPIENTS) };
}

/** The groups of a delivery-status (RFC 3464 §2.3) that say failed. */
function fromStatus(text: string): FailedRecipient[] {
  const groups = text.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n[ \t]*\r?\n/);
  return groups.flatMap((group) => {
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(group)?.[1]?.trim();
    if (field('Action')?.toLowerCase() !== 'failed') return [];
    const addresses = [field('Original-Recipient'), field('Final-Recipient')].flatMap((value) => {
      const address = parseAddress((value ?? '').replace(/^[^;]*;\s*/, '').replace(/^<(.*)>$/, '$1'));
      return address === undefined ? [] : [`${address.localPart}@${address.domain}`.toLowerCase()];
    });
    const said = field('Diagnostic-Code')?.replace(/^[^;]*;\s*/, '') ?? field('Status') ?? '';
    return addresses.length === 0 ? [] : [failed(addresses, STATUS.exec(field('Status') ?? '')?.[0], said)];
  });
}

/** Each address that the text names before the copy of the message, with what is said behind it (qmail, Exim and others). */
function fromText(octets: Buffer, root: IndexedPart, parts: readonly IndexedPart[]): FailedRecipient[] {
  const first = parts.find(({ type, subtype }) => type === 'text' && subtype === 'plain');
  if (first === undefined) return [];
  const whole = textOfPart(octets, first);
  const text = whole.slice(0, COPY.exec(whole)?.index ?? whole.length);
  const subject = /^subject:.*$/im.exec(octets.toString('latin1', root.headerStart, root.bodyStart))?.[0] ?? '';
  if (!FAILED.test(text) || WAITS.test(`${subject}\n${text}`)) return [];
  const named = [...text.matchAll(ADDRESS)].slice(0, MOST_RECIPIENTS);
  return named.flatMap(([found, address], i) => {
    const parsed = parseAddress(address!.replace(/\.$/, ''));
    if (parsed === undefined) return [];
    const said = text.slice(named[i]!.index + found.length, named[i + 1]?.index).replace(/^[>:\s]+/, '');
    return [failed([`${parsed.localPart}@${parsed.domain}`.toLowerCase()], STATUS.exec(said)?.[0], said)];
  });
}

function failed(addresses: string[], statusCode: string | undefined, said: string): FailedRecipient {
  const text = [...sanitizedLine(said.slice(0, 8 * LONGEST_TEXT).replace(/\s+/g, ' '))].slice(0, LONGEST_TEXT).join('');
  return {
    addresses,
    statusCode: statusCode ?? '5.0.0',
    text: text || 'the host reports that the message was not delivered',
  };
}

/** Reads it from the message or header that is a part, else from the copy in the text. */
function returnedId(octets: Buffer, parts: readonly IndexedPart[]): string | undefined {
  const returned = parts.find(({ type, subtype }) =>
    /^(?:message\/(?:rfc822|global|global-headers)|text\/rfc822-headers)$/.test(`${type}/${subtype}`),
  );
  if (returned?.envelope?.messageId) return returned.envelope.messageId;
  const text = returned ?? parts.find(({ type, subtype }) => type === 'text' && subtype === 'plain');
  if (text === undefined) return undefined;
  return MESSAGE_ID.exec(textOfPart(octets, text).replace(/\r?\n[ \t]+/g, ' '))?.[1];
}

function textOfPart(octets: Buffer, part: IndexedPart): string {
  return textOf(part, octets.subarray(part.bodyStart, Math.min(part.bodyEnd, octets.length)));
}
