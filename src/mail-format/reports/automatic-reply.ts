// Which mail is answered automatically (RFC 3834 §2, RFC 5230 §4.6), and the fields of the answer. The vacation of an account uses it, and so
// may a script with other parameters. It is pure: who was answered before is not known here.
import { canonicalAddress, foldedAddress } from '../address.js';

/** What the rules look at in a message that has arrived. */
export interface AnsweredMail {
  /** The envelope sender; '' is the null sender. */
  readonly sender: string;
  /** The address that was written to; null when it is unknown. */
  readonly recipient: string | null;
  /** The addresses of To and Cc. */
  readonly named: readonly string[];
  /** The author, as lists show it. */
  readonly author: string;
  readonly subject: string;
  readonly messageId: string | null;
  readonly references: readonly string[];
  /** The values of all fields with this name, whose case does not count. */
  values(name: string): readonly string[];
}

export interface ReplyParameters {
  /** The addresses of the account; the message must name one of them, or the one that was written to. */
  readonly addresses: readonly string[];
  /** Null: made from the subject of the message. */
  readonly subject: string | null;
  /** The author of the answer. Null: the address that was written to. */
  readonly from: string | null;
}

/** The answer without its text. */
export interface AutomaticReply {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
}

/** Why a message is not answered. */
export type NoReply = 'null sender' | 'service' | 'own' | 'automatic' | 'list' | 'suppressed' | 'not named';

/** Mailboxes behind which nobody reads (RFC 3834 §2, RFC 5230 §4.6, RFC 2142), and those that say so. */
const SERVICE =
  /^(?:owner-.*|.*-(?:owner|request|bounces?|return)|mailer-daemon|postmaster|listserv|majordomo|bounces?|(?:do-?not-?|no-?)reply)$/i;
/** VERP and subaddresses of such mailboxes: `bounces+ann=example.org@list.test`. */
const DETAIL = /[+=].*$/;
const LIST_FIELDS = ['id', 'help', 'subscribe', 'unsubscribe', 'post', 'owner', 'archive'];
const MASS = /^\s*(?:bulk|list|junk)\s*$/i;
/** Exchange and others ask for no answers by this field ([MS-OXCMAIL] X-Auto-Response-Suppress). */
const SUPPRESSING = /\b(?:all|oof|autoreply)\b/i;
const PREFIX = 'Auto: ';
const LONGEST_SUBJECT = 900;

/** The address by which a sender is remembered as answered. */
export const answeredKey = (sender: string): string => foldedAddress(sender) ?? sender.toLowerCase();

/** Decides whether the message is answered, and how. */
export function automaticReply(
  mail: AnsweredMail,
  { addresses, subject, from }: ReplyParameters,
): AutomaticReply | { readonly none: NoReply } {
  const none = refusalOf(mail, addresses);
  if (none !== undefined) return { none };
  const { sender, recipient, messageId, references } = mail;
  return {
    from: from ?? recipient ?? addresses[0] ?? '',
    to: sender,
    subject: subject ?? subjectOf(mail.subject),
    inReplyTo: messageId,
    references: messageId === null ? references : [...references, messageId],
  };
}

function refusalOf(mail: AnsweredMail, addresses: readonly string[]): NoReply | undefined {
  const none = notAnswered(mail, addresses);
  if (none !== undefined) return none;
  const own = ownOf(mail, addresses);
  return mail.named.some((address) => own.has(canonicalAddress(address))) ? undefined : 'not named';
}

const ownOf = ({ recipient }: Pick<AnsweredMail, 'recipient'>, addresses: readonly string[]) =>
  new Set([...addresses, ...(recipient === null ? [] : [recipient])].map(canonicalAddress));

/** Why no automatic mail goes to the sender, whomever the message names. */
export function notAnswered(mail: Omit<AnsweredMail, 'named'>, addresses: readonly string[]): NoReply | undefined {
  const { sender, author } = mail;
  if (sender === '') return 'null sender';
  if (isService(sender)) return 'service';
  const own = ownOf(mail, addresses);
  const isOwn = (address: string) => own.has(canonicalAddress(address));
  if (canonicalAddress(sender) === undefined || isOwn(sender) || isOwn(author)) return 'own';
  const submitted = mail.values('auto-submitted').map((value) => value.replace(/[;(].*$/s, '').trim());
  if (submitted.some((value) => value.toLowerCase() !== 'no')) return 'automatic';
  if (LIST_FIELDS.some((name) => mail.values(`list-${name}`).length > 0)) return 'list';
  if (mail.values('precedence').some((value) => MASS.test(value))) return 'list';
  if (mail.values('x-auto-response-suppress').some((value) => SUPPRESSING.test(value))) return 'suppressed';
  return undefined;
}

function isService(sender: string): boolean {
  const localPart = sender.slice(0, sender.lastIndexOf('@'));
  return SERVICE.test(localPart) || SERVICE.test(localPart.replace(DETAIL, ''));
}

/** An answer to an answer has one prefix. */
function subjectOf(subject: string): string {
  const told = subject.replaceAll(/\s+/g, ' ').trim();
  const whole = /^auto:/i.test(told) ? told : `${PREFIX}${told}`.trim();
  return [...whole].slice(0, LONGEST_SUBJECT).join('');
}
