// What scripts tell the senders of mail (`vacation`, `reject`, `ereject`): due with the mail that arrives (decision 0107), and written by the
// worker of automatic mail.
import { createHash } from 'node:crypto';
import type { RejectAction, SieveAnswer, VacationAction } from '../../../mail-format/sieve/actions.js';
import type { DueMail } from '../../../store/mailbox-rows.js';
import { type Arrived, isCheckedBy } from '../commands/forwarding.js';
import type { ScriptEffects } from '../filters/delivery-plan.js';
import type { MailboxTransaction } from '../state/transaction.js';

/** RFC 5230 §4.1 lets the server choose. */
const DEFAULT_DAYS = 7;

/** The vacation of a script, in `further` of what is due. */
export interface ScriptedVacation {
  readonly reason: string;
  readonly isMime: boolean;
  readonly subject: string | null;
  readonly from: string | null;
  readonly addresses: readonly string[];
  readonly days: number;
  /** Has one size, whatever the script says. */
  readonly handle: string;
}

/** Why a script refuses a message, in `further` of what is due. */
export type ScriptedRejection = Pick<RejectAction, 'command' | 'reason'>;

/** Undefined for the vacation of the account. */
export const scriptedVacation = ({ further }: Pick<DueMail, 'further'>): ScriptedVacation | undefined =>
  further?.['vacation'] as ScriptedVacation | undefined;

/** Undefined when no script refuses the message. */
export const rejectionOf = ({ further }: Pick<DueMail, 'further'>): ScriptedRejection | undefined =>
  further?.['reject'] as ScriptedRejection | undefined;

/**
 * Records what a script does apart from placing the email; nobody is told of mail that it puts in Junk. Returns whether a reply is due, which
 * needs the octets of the message.
 */
export function takeEffects(
  tx: MailboxTransaction,
  mail: Arrived,
  { replies, tracked }: ScriptEffects,
  { isJunk }: { readonly isJunk: boolean },
): boolean {
  for (const { key, seconds } of tracked) tx.sieve.track(key, tx.now + seconds * 1000, tx.now);
  return !isJunk && dueReplies(tx, mail, replies);
}

/** Records what the sender is to be told, within the bounds of the account. Returns whether anything is due. */
function dueReplies(tx: MailboxTransaction, mail: Arrived, replies: readonly SieveAnswer[]): boolean {
  const { blob, receivedAt, summary, envelope } = mail;
  const { vacation } = tx.dueMail;
  let isDue = false;
  for (const reply of envelope.sender === '' ? [] : replies) {
    const content = { blob, receivedAt, ...envelope, targets: [], copy: null, isChecked: isCheckedBy(summary) };
    if (reply.type === 'reject') {
      if (!vacation.hasRoom) continue;
      const { command, reason } = reply;
      tx.dueMail.add({
        kind: 'reject',
        ...content,
        further: { reject: { command, reason } satisfies ScriptedRejection },
      });
    } else {
      const scripted = vacationOf(reply);
      if (!vacation.mayAnswer(envelope.sender, tx.now, scripted)) continue;
      tx.dueMail.add({ kind: 'vacation', ...content, further: { vacation: scripted } });
    }
    isDue = true;
  }
  return isDue;
}

function vacationOf({ reason, isMime, subject, from, addresses, days, handle }: VacationAction): ScriptedVacation {
  return {
    ...{ reason, isMime, subject: subject ?? null, from: from ?? null, addresses: [...addresses] },
    days: days ?? DEFAULT_DAYS,
    handle: createHash('sha256').update(handle).digest('base64url'),
  };
}
