// Which mail an account sends on, and whether it keeps a copy (docs/decisions/0097): its own forwarding, filters that forward, and aliases
// whose targets are elsewhere. The commit that places a message records what is due; it is sent afterwards.
import { createHash } from 'node:crypto';
import type { SentOnward } from '../../../mail-format/sent-onward.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { ArrivedEnvelope, CopyPlacing } from '../../../store/mailbox-rows.js';
import type { Forwarding } from '../../../store/preferences.js';
import type { FilterResult } from '../filters/delivery-plan.js';
import type { MailboxTransaction } from '../state/transaction.js';

export interface Forwards {
  /** Addresses that get the message, each once. */
  readonly targets: readonly string[];
  /** The account keeps the message. */
  readonly isKept: boolean;
}

export interface Arrived {
  readonly blob: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly summary: MessageSummary;
  readonly envelope: ArrivedEnvelope;
}

/** What is sent on of mail that goes to Junk: nothing. */
export const NO_FORWARDS: Forwards = { targets: [], isKept: true };

/** The copy is kept while a filter waits for the body: what it does needs an email. */
export function forwardsOf(
  { isEnabled, address, keepCopy }: Forwarding,
  { plan, undecided }: Pick<FilterResult, 'plan' | 'undecided'>,
): Forwards {
  // A filter that deletes a message ends its way, except to where filters forward it.
  const own = isEnabled && address !== null && !plan.remove ? [address] : [];
  const isKept = plan.remove ? false : own.length === 0 || keepCopy || undecided.length > 0;
  return { targets: [...new Set([...plan.forwardTo, ...own])], isKept };
}

/** Records the mail that is due. If the account keeps no email, the row holds the copy until all targets have the message. */
export function dueForwards(
  tx: MailboxTransaction,
  { blob, receivedAt, summary, envelope }: Arrived,
  { targets, isKept }: Forwards,
  { placing, id }: { readonly placing?: CopyPlacing | undefined; readonly id?: string } = {},
): void {
  if (targets.length === 0) return;
  const copy = isKept ? { copy: null } : { copy: summary, ...(placing !== undefined && { placing }) };
  const isChecked = isCheckedBy(summary);
  const further = id === undefined ? {} : { further: { isRepeatable: true } };
  tx.dueMail.add({ kind: 'forward', blob, receivedAt, ...envelope, targets, ...copy, isChecked, ...further }, id);
}

/**
 * The id of what is due because a command has looked at an email: the command may be repeated long afterwards. It has the time of the
 * email's id.
 */
export function dueIdOf(emailId: string, command: 'announce' | 'applyBodyFilters'): string {
  const digest = createHash('sha256').update(`${command} ${emailId.toLowerCase()}`).digest('hex');
  return `${emailId.toLowerCase().slice(0, 19)}8${digest.slice(0, 3)}-${digest.slice(3, 15)}`;
}

export const isCheckedBy = ({ hasAuthenticationResults }: MessageSummary): boolean => hasAuthenticationResults === true;

/** Records mail for targets elsewhere: its sender is told when they refuse it. */
export function sendOnward(
  tx: MailboxTransaction,
  { blob, receivedAt, envelope, summary }: Arrived,
  { targets, isPlaced }: SentOnward,
): void {
  if (targets.length === 0) return;
  const further = { isOnward: true, isPlaced };
  const isChecked = isCheckedBy(summary);
  tx.dueMail.add({ kind: 'forward', blob, receivedAt, ...envelope, targets, copy: null, isChecked, further });
}

/** Records that the sender may get a vacation reply (decision 0099), if the account is away and has not answered before. */
export function dueVacationReply(tx: MailboxTransaction, { blob, receivedAt, summary, envelope }: Arrived): void {
  const { sender } = envelope;
  if (sender === '' || !tx.dueMail.vacation.mayAnswer(sender, tx.now)) return;
  const rest = { targets: [], copy: null, isChecked: isCheckedBy(summary) };
  tx.dueMail.add({ kind: 'vacation', blob, receivedAt, ...envelope, ...rest });
}
