// Mail that the server sends because mail arrived (docs/decisions/0097), and DSNs about it: queued as an outbound email of the account
// without a copy in Sent.
import { step } from '../../../machines/outbound-email/step.js';
import { parseAddress } from '../../../mail-format/address.js';
import { NEVER, type Notify } from '../../../mail-format/reports/dsn-request.js';
import { isRewritten } from '../../../mail-format/srs.js';
import type { DueMail } from '../../../store/mailbox-rows.js';
import type { OutboundRow } from '../../../store/outbound.js';
import type { QueryHandlers } from '../../runtime/behavior.js';
import type { Payload, Reply } from '../../runtime/protocol.js';
import type { AutomaticOutgoing } from '../automatic-operations.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import type { MailboxProtocol } from '../protocol.js';
import { scriptedVacation } from '../sieve/script-replies.js';
import type { MailboxState } from '../state/state.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { newDraft } from './draft-rows.js';
import { advanceFirst, endOfAttempts, type FirstAttempts, firstAttempts, NO_ATTEMPTS } from './first-attempts.js';
import { placeCopy } from './held-copies.js';
import { refusedAmong } from './suppressions.js';

/** Its sender, who is somebody else, is told of failures alone. */
const FAILURE: Notify = ['FAILURE'];

/** Mail for elsewhere waits for a limit for so long, unless the limit allows it never. */
const LONGEST_WAIT_MS = 24 * 3_600_000;
// RFC 3463: the delivery time has expired.
const EXPIRED = { text: 'The domain sends on too much mail: the message has waited for a day.', statusCode: '5.4.7' };
// RFC 3463: too many recipients.
const TOO_MANY = { text: 'The address leads to more addresses than its domain may send on to.', statusCode: '5.5.3' };

export const automaticCommands: Pick<MailboxHandlers<MailboxProtocol>, 'sendAutomaticMail'> = {
  sendAutomaticMail: {
    reads({ dueId, outgoing }, { dueMail }) {
      if (outgoing === null) return undefined;
      const due = dueMail.get(dueId);
      const outbound = { due: outgoing, ...(isRepeatable(due) && { id: dueId }) };
      return { outbound, sending: { isCounting: due?.kind === 'forward' } };
    },
    plan: (tx, payload) => ({ reply: send(tx, payload) }),
  },
};

const MOST_SHOWN = 100;
/** Mail for elsewhere may wait for its limit: it leaves room for what the account itself sends. */
const MOST_FOR_ELSEWHERE = 50;

export const automaticQueries: Pick<QueryHandlers<MailboxProtocol, MailboxState>, 'dueAutomaticMail'> = {
  async dueAutomaticMail(state) {
    const due: DueMail[] = [];
    let forElsewhere = 0;
    for (const mail of state.dueMail.values()) {
      if (due.length === MOST_SHOWN) break;
      if (mail.isQueued || (mayWait(mail) && forElsewhere++ >= MOST_FOR_ELSEWHERE)) continue;
      due.push(mail);
    }
    const copied = due.map(({ further, targets, placing: _placing, ...mail }) => {
      return { ...mail, targets: [...targets], ...(further !== undefined && { further: { ...further } }) };
    });
    return { reply: { due: copied } };
  },
};

type Sent = Reply<MailboxProtocol, 'sendAutomaticMail'>;

const NOTHING: Sent = { outboundId: null };

function send(tx: MailboxTransaction, payload: Payload<MailboxProtocol, 'sendAutomaticMail'>): Sent {
  const { dueId, outgoing, arrived } = payload;
  const due = tx.dueMail.get(dueId);
  if (due === undefined || due.isQueued) return NOTHING;
  tx.begin();
  if (isRepeatable(due) && outgoing !== null && tx.outbound.get(dueId) !== undefined) {
    tx.dueMail.end(due);
    return NOTHING;
  }
  if (outgoing === null || !isWanted(tx, due)) {
    tx.dueMail.end(due);
    placeCopy(tx, { ...due, copy: due.copy ?? arrived ?? null });
    return NOTHING;
  }
  const isCounted = due.kind === 'forward' && !isReturned(due);
  const over = isCounted ? tx.sending.forward(outgoing.recipients.length) : undefined;
  if (over !== undefined) {
    const isElsewhere = isForElsewhere(due);
    const { period, limit, isAlone } = over;
    if (isElsewhere && !isAlone && tx.now - due.receivedAt < LONGEST_WAIT_MS)
      return { outboundId: null, over: period, limit, isWaiting: true };
    tx.dueMail.end(due);
    placeCopy(tx, { ...due, copy: due.copy ?? arrived ?? null });
    // The sender of mail to an alias is told.
    const failed = failedFirst(isAlone ? TOO_MANY : EXPIRED);
    if (isElsewhere && outgoing.reportTo !== null) queueAutomatic(tx, dueId, outgoing, payload, failed);
    return { outboundId: null, over: period };
  }
  // The outcome of the outbound email may be known with this commit: it ends a row that is queued.
  if (due.copy === null) tx.dueMail.end(due);
  else if (tx.sending.isSuspended || outgoing.isPartial === true) {
    // The forward waits until sending is resumed, and the mail is read meanwhile. A target that gets nothing cannot refuse it.
    tx.dueMail.end(due);
    placeCopy(tx, due);
  } else tx.dueMail.put({ ...due, isQueued: true });
  queueAutomatic(tx, dueId, outgoing, payload);
  return { outboundId: dueId };
}

/** The account is that of the postmaster, and only sends the mail on behalf of an alias or of a rewritten sender. */
export const isForElsewhere = (due: DueMail): boolean => due.further?.['isPlaced'] === false;

/** A bounce goes back to the sender whose address was rewritten: the account has sent nothing. */
const isReturned = (due: DueMail): boolean =>
  isForElsewhere(due) && due.sender === '' && due.recipient !== null && isRewritten(due.recipient);

/** Whether the message waits when a limit is reached. */
export const mayWait = (due: DueMail): boolean => isForElsewhere(due) && !isReturned(due);

/** A command that was carried out again may have made it due again, after it was sent. */
const isRepeatable = (due: DueMail | undefined): boolean => due?.further?.['isRepeatable'] === true;

/**
 * A sender gets one vacation reply: the commit that queues it also remembers the sender. While sending is suspended nobody gets one, and
 * none waits: it would be wrong when the account is resumed.
 */
function isWanted(tx: MailboxTransaction, due: DueMail): boolean {
  if (due.kind !== 'vacation') return true;
  if (tx.sending.isSuspended) return false;
  const { vacation } = tx.dueMail;
  const script = scriptedVacation(due);
  const isFirst = vacation.mayAnswer(due.sender, tx.now, script);
  if (isFirst) vacation.answer(due.sender, tx.now, script);
  return isFirst;
}

/** The recipients of a message. */
export const addressed = (...addresses: readonly string[]): AutomaticOutgoing['recipients'] =>
  addresses.map((address) => ({ address, domain: parseAddress(address)?.domain ?? '' }));

/**
 * `payload`: that of the command which has read the outcomes of hosted recipients; otherwise they are delivered from the queue. `begun` makes
 * other first attempts.
 */
export function queueAutomatic(
  tx: MailboxTransaction,
  id: string,
  { blob, summary, sender, recipients: addressees, reportTo }: AutomaticOutgoing,
  payload?: unknown,
  begun?: ReturnType<typeof failedFirst>,
): void {
  const { now } = tx;
  const recipients = addressees.map(({ address, domain }) => ({
    id: tx.otherId(),
    address,
    displayName: null,
    type: 'To' as const,
    status: 'Pending' as const,
    domain,
    deliveredAt: null,
    lastError: null,
    statusCode: null,
  }));
  const notify = reportTo === null ? NEVER : FAILURE;
  const asked = recipients.map((recipient) => [recipient.id, { notify, orcpt: null }] as const);
  // What the server writes for a suspended account waits in the queue.
  const waiting = () => (tx.sending.isSuspended ? NO_ATTEMPTS : firstAttempts(tx, payload, recipients));
  const first = begun?.(tx, recipients) ?? waiting();
  const about = { now, recipients: asked.map(([of]) => ({ id: of, notify })), heldUntil: undefined };
  const next = step(null, { type: 'enqueue', ...about, begins: first.begins }, ...first.events);
  const { subject, messageId, inReplyTo, references, size } = summary;
  const row: OutboundRow = {
    ...newDraft(id, now),
    blob,
    sender,
    subject,
    messageId,
    inReplyTo,
    references,
    size,
    // An id of no email stands for the copy in Sent that it does not have.
    emailId: tx.otherId(),
    dsn: { ret: null, envid: null, recipients: Object.fromEntries(asked), ...(reportTo !== null && { reportTo }) },
    recipients,
  };
  const parts = { before: undefined, recipients: 'all' as const, content: undefined, summary };
  advanceFirst(tx, row, next, first, { summary: () => summary, parts });
}

/** The recipients fail at once. */
function failedFirst(why: typeof EXPIRED) {
  return (tx: MailboxTransaction, recipients: OutboundRow['recipients']): FirstAttempts => {
    const hosted = refusedAmong(tx, recipients, () => why);
    return { hosted, attempt: null, begins: true, events: [...hosted.events, endOfAttempts(tx)] };
  };
}
