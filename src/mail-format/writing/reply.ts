// The header of a reply or a forward, taken from its original: subject, threading fields (RFC 5322 §3.6.4), and for a reply its recipients
// and the sender's own address. The sender writes the body; forward.ts has the content of a forward.
import { canonicalAddress, parseAddress } from '../address.js';
import type { IndexedAddress, IndexedEnvelope, MessageIndex } from '../message-index.js';

/** Matches `Re:` as mail programs of several languages write it, with or without a count (`Re[2]:`), any number of times. */
const REPLY_MARKS = /^(?:\s*(?:re|aw|sv|antw)(?:\s?(?:\[\d{1,4}\]|\(\d{1,4}\)))?\s*:)+/i;
const FORWARD_MARKS = /^(?:\s*(?:fwd?|wg)(?:\s?(?:\[\d{1,4}\]|\(\d{1,4}\)))?\s*:)+/i;

/** The most characters; longer texts are cut. */
export const LONGEST_SUBJECT = 998;
export const LONGEST_DISPLAY_NAME = 200;

/** Matches a msg-id that fits in a header line (RFC 5322 §2.1.1: 998 octets). */
const USABLE_ID = /^<[!-;=?-~]{1,900}>$/;
const MOST_REFERENCES = 50;
const REFERENCES_OCTETS = 8 * 1024;

export const replySubject = (subject: string): string => marked('Re:', subject.replace(REPLY_MARKS, ''));
export const forwardSubject = (subject: string): string => marked('Fwd:', subject.replace(FORWARD_MARKS, ''));

export interface ThreadFields {
  readonly inReplyTo: string | null;
  /** The oldest first: the start of the thread and as many of the nearest ancestors as there is room for. */
  readonly references: readonly string[];
}

export function threadFields({ messageId, inReplyTo, references }: IndexedEnvelope): ThreadFields {
  const before = references.length > 0 || inReplyTo === null ? references : [inReplyTo];
  const ids = [...new Set([...before, ...(messageId === null ? [] : [messageId])])].filter((id) => USABLE_ID.test(id));
  const own = messageId !== null && USABLE_ID.test(messageId) ? messageId : null;
  const [first, ...others] = ids;
  if (first === undefined) return { inReplyTo: own, references: [] };
  let room = REFERENCES_OCTETS - first.length;
  let from = others.length;
  while (from > 0 && others.length - from < MOST_REFERENCES - 1) {
    room -= others[from - 1]!.length + 1;
    if (room < 0) break;
    from--;
  }
  return { inReplyTo: own, references: [first, ...others.slice(from)] };
}

export interface ReplyAddressee extends IndexedAddress {
  readonly type: 'To' | 'Cc';
}

/** The addresses of the account, in canonical form. */
export type OwnAddresses = ReadonlySet<string>;

/**
 * Returns the recipients of a reply, each address once: Reply-To, otherwise From; if the account itself sent the original, its To. `all`
 * adds To and Cc of the original without the account's own addresses. Empty when there is no usable address.
 */
export function replyAddressees(envelope: IndexedEnvelope, own: OwnAddresses, all: boolean): readonly ReplyAddressee[] {
  const isOwn = ({ address }: IndexedAddress) => own.has(canonicalAddress(address) ?? '');
  const others = (list: readonly IndexedAddress[]) => list.filter((one) => !isOwn(one));
  const authors = usable(envelope.from);
  const answerTo = usable(envelope.replyTo).length > 0 ? usable(envelope.replyTo) : authors;
  const wasSent = authors.length > 0 && authors.every(isOwn);
  const [to, cc] = [usable(envelope.to), usable(envelope.cc)];
  const targets = wasSent && to.length > 0 ? to : answerTo;
  // A reply to a message that the account sent to itself goes to the account.
  const first = others(targets).length > 0 || (all && others([...to, ...cc]).length > 0) ? others(targets) : targets;
  const found = [
    ...first.map((one) => ({ ...one, type: 'To' as const })),
    ...(all ? others(to).map((one) => ({ ...one, type: 'To' as const })) : []),
    ...(all ? others(cc).map((one) => ({ ...one, type: 'Cc' as const })) : []),
  ];
  const once = new Map<string, ReplyAddressee>();
  for (const one of found) if (!once.has(addressKey(one.address))) once.set(addressKey(one.address), shortNamed(one));
  return [...once.values()];
}

/** Returns the account's address that the original was sent from or to, in canonical form; undefined when it names none. */
export function ownAddressOf(
  { envelope, deliveredTo }: Pick<MessageIndex, 'envelope' | 'deliveredTo'>,
  own: OwnAddresses,
): string | undefined {
  const { from, to, cc, bcc } = envelope;
  const written = [...from, ...to, ...cc, ...bcc].map(({ address }) => address);
  return [...written, ...deliveredTo].map(canonicalAddress).find((address) => own.has(address ?? ''));
}

/** Returns the form in which addresses are compared: case-insensitive, with the tag (another server may have a mailbox for it). */
export function addressKey(address: string): string {
  const parsed = parseAddress(address);
  return parsed === undefined ? address.toLowerCase() : `${parsed.localPart.toLowerCase()}@${parsed.domain}`;
}

const usable = (list: readonly IndexedAddress[]): readonly IndexedAddress[] =>
  list.filter(({ address }) => parseAddress(address) !== undefined);

const shortNamed = (one: ReplyAddressee): ReplyAddressee => ({ ...one, name: cut(one.name, LONGEST_DISPLAY_NAME) });

const marked = (mark: string, rest: string): string => cut(`${mark} ${rest.trim()}`.trim(), LONGEST_SUBJECT);

/** Cuts the text without leaving half of a surrogate pair. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
