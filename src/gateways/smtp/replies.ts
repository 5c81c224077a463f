// Replies to the peer: one exhaustive table from every outcome and kind of fault to a reply with an enhanced code (RFC 5321
// §4.2, RFC 3463). A new outcome does not compile until SMTP has a reply to it. Texts are fixed, and no reply repeats input of the
// peer; only content checks give reasons of their own.

import type { Recipient } from '../../actors/directory/protocol.js';
import { sanitizedLine } from '../../mail-format/reports/report-text.js';
import { UnusableHeader } from '../../mail-format/writing/submitted-message.js';
import type { AcceptingJudgement, Judgement } from '../../message-checks/check-chain.js';
import type { RefusingJudgement } from '../../message-checks/content-check.js';
import { UnencodableLine } from '../../message-content/compose/short-lines.js';
import { type FaultKind, faultKind } from '../faults.js';

export interface SmtpReply {
  readonly code: number;
  /** Enhanced code and text, in the form that smtp-server expects. */
  readonly text: string;
}

/** The reasons to refuse a command or a message though nothing failed. */
export type SmtpRefusal =
  | 'badSender'
  | 'badRecipient'
  | 'needsUtf8'
  | 'unknownParameter'
  | 'malformedParameter'
  | 'badDsn'
  | 'tooLarge'
  | 'headerTooLarge'
  | 'bareLineEnding'
  | 'loop'
  | 'cannotHold'
  | 'connectionLost'
  | 'loginEnded'
  | 'foreignSender'
  | 'foreignFrom'
  | 'noFrom'
  | 'noSender'
  | 'malformedFrom'
  | 'malformedHeader'
  | 'longLine'
  | 'tooManyMailboxes'
  | 'unknownRecipient'
  | 'unqualifiedDomain'
  | 'sendingSuspended'
  | 'overLimit'
  | 'overMessageLimit'
  | 'overQuota'
  | 'longOverQuota';

const BUSY: SmtpReply = { code: 451, text: '4.3.0 Temporary failure, try again later' };
const FULL: SmtpReply = { code: 452, text: '4.3.1 Insufficient system storage' };
const BUG: SmtpReply = { code: 421, text: '4.3.0 Internal error, closing connection' };

const REFUSALS: Readonly<Record<SmtpRefusal, SmtpReply>> = {
  badSender: { code: 501, text: '5.1.7 Bad sender address' },
  badRecipient: { code: 501, text: '5.1.3 Bad recipient address' },
  // RFC 6531 §3.5.
  needsUtf8: { code: 553, text: '5.6.7 Non-ASCII address without SMTPUTF8' },
  unknownParameter: { code: 555, text: '5.5.4 Parameter not recognized' },
  malformedParameter: { code: 501, text: '5.5.4 Malformed parameter: NAME or NAME=VALUE is expected' },
  badDsn: { code: 501, text: '5.5.4 Bad RET, ENVID, NOTIFY or ORCPT' },
  tooLarge: { code: 552, text: '5.3.4 Message too large' },
  headerTooLarge: { code: 552, text: '5.3.4 Message header too large' },
  bareLineEnding: { code: 550, text: '5.6.0 Lines must end in CR LF; bare CR or LF refused' },
  loop: { code: 554, text: '5.4.6 Mail loop detected' },
  // One reply stands for all recipients. It is temporary, as at RCPT, so the peer tries again.
  cannotHold: { code: 450, text: '4.2.1 Mailbox is not accepting messages now' },
  // Nobody is there to read this reply.
  connectionLost: { code: 421, text: '4.4.2 Connection lost' },
  loginEnded: { code: 421, text: '4.7.0 The credential is no longer valid, closing connection' },
  foreignSender: { code: 550, text: '5.7.1 The sender is no address of this account' },
  foreignFrom: { code: 550, text: '5.7.1 From or Sender is no address of this account' },
  noFrom: { code: 550, text: '5.6.0 The message has no From' },
  // RFC 5322 §3.6.2.
  noSender: { code: 550, text: '5.6.0 Several authors in From need a Sender' },
  malformedFrom: { code: 550, text: '5.6.0 From or Sender stands twice or is no list of mailboxes' },
  malformedHeader: { code: 550, text: '5.6.0 The header has a line that is no part of a field' },
  longLine: { code: 550, text: '5.6.0 A line has more than 998 octets and can be neither folded nor encoded' },
  // RFC 5321 §4.5.3.1.10.
  tooManyMailboxes: { code: 452, text: '4.5.3 Too many recipients' },
  unknownRecipient: { code: 550, text: '5.1.1 No such mailbox' },
  unqualifiedDomain: { code: 550, text: '5.1.2 The domain is not fully qualified' },
  sendingSuspended: { code: 550, text: '5.7.1 Sending is suspended' },
  overLimit: { code: 450, text: '4.7.1 A limit of recipients is reached, try again later' },
  overMessageLimit: { code: 550, text: '5.5.3 The message has more recipients than may be written to' },
  overQuota: { code: 452, text: '4.2.2 The mailbox is full' },
  longOverQuota: { code: 552, text: '5.2.2 The mailbox has been full for days' },
};

/** Octets of the reason that a content check gives. */
const LONGEST_REASON = 400;

const HEADERS: Readonly<Record<UnusableHeader['fault'], SmtpRefusal>> = {
  tooLarge: 'headerTooLarge',
  malformed: 'malformedHeader',
};

const RECIPIENTS: Readonly<Record<Exclude<Recipient['kind'], 'mailbox' | 'unclaimed' | 'several'>, SmtpReply>> = {
  loop: { code: 554, text: '5.4.6 The aliases of the address form a loop or are too many' },
  notHosted: { code: 550, text: '5.7.1 Relaying denied' },
  unknown: { code: 550, text: '5.1.1 No such mailbox' },
  full: { code: 450, text: '4.2.1 Mailbox is not accepting messages now' },
};

// Even a lasting fault gets 4xx: the peer keeps the mail until the fault is repaired here.
const FAULTS: Readonly<Record<FaultKind, SmtpReply>> = {
  unavailable: BUSY,
  'no-room': FULL,
  'no-account': BUSY,
  failed: BUSY,
  bug: BUG,
};

export class SmtpRefused extends Error {
  readonly refusal: SmtpRefusal;
  /** Stands in the reply in place of the fixed text. */
  readonly detail: string | undefined;

  constructor(refusal: SmtpRefusal, detail?: string) {
    super(refusal);
    this.refusal = refusal;
    this.detail = detail;
  }
}

/** The verdict of a content check that does not accept the message. */
class ContentRefused extends Error {
  readonly by: string;
  readonly reply: SmtpReply;

  constructor({ verdict, reply, code: refused = 550, by }: RefusingJudgement) {
    super(`${verdict} by ${by}`);
    this.by = by;
    // RFC 3463 §3.8: delivery not authorized, message refused.
    const [code, enhanced] = verdict === 'refuse' ? [refused, '5.7.1'] : [451, '4.7.1'];
    this.reply = { code, text: `${enhanced} ${printable(reply)}` };
  }
}

/** @throws ContentRefused */
export function accepting(judgement: Judgement): AcceptingJudgement {
  if ('reply' in judgement) throw new ContentRefused(judgement);
  return judgement;
}

/** The line of a reply has at most 512 octets (RFC 5321 §4.5.3.1.5), and ASCII alone is safe without SMTPUTF8. */
function printable(text: string): string {
  return (
    sanitizedLine(text)
      .replace(/[^ -~]/g, '?')
      .slice(0, LONGEST_REASON) || 'Message refused'
  );
}

/** Returns the refusal that an error stands for, or the name of the content check that refused; undefined when it is a fault. */
export function refusalIn(error: unknown): string | undefined {
  if (error instanceof ContentRefused) return error.by;
  return knownRefusal(error);
}

function knownRefusal(error: unknown): SmtpRefusal | undefined {
  if (error instanceof SmtpRefused) return error.refusal;
  if (error instanceof UnencodableLine) return 'longLine';
  return error instanceof UnusableHeader ? HEADERS[error.fault] : undefined;
}

/** `detail`: stands in the reply in place of the fixed text. */
export function refusalReply(refusal: SmtpRefusal, detail?: string): SmtpReply {
  const reply = REFUSALS[refusal];
  if (detail === undefined) return reply;
  return { code: reply.code, text: `${reply.text.slice(0, reply.text.indexOf(' '))} ${printable(detail)}` };
}

export function recipientReply(kind: keyof typeof RECIPIENTS): SmtpReply {
  return RECIPIENTS[kind];
}

/** Returns the reply to any error. */
export function replyTo(error: unknown): SmtpReply {
  if (error instanceof ContentRefused) return error.reply;
  const refusal = knownRefusal(error);
  if (refusal !== undefined) return refusalReply(refusal, error instanceof SmtpRefused ? error.detail : undefined);
  return FAULTS[faultKind(error)];
}

/** Tells whether an error is unexpected, and is logged with its stack. */
export function isBug(error: unknown): boolean {
  return refusalIn(error) === undefined && faultKind(error) === 'bug';
}
