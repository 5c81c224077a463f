// One step of an outbound email: from its stored snapshot and events to the next snapshot, its meaning and its effects. Pure: the caller
// runs the effects after the commit.
import type { DsnKind, OutboundStatus, RecipientStatus } from '../../mail-format/outbound-status.js';
import { transitionsOf } from '../transitions.js';
import { outboundEmail } from './machine.js';
import { revived, type StoredSnapshot, stored } from './stored-snapshot.js';
import type { Effect, OutboundEmailContext, OutboundEmailEvent } from './types.js';

interface RecipientState {
  readonly status: RecipientStatus;
  /** ms since the epoch. */
  readonly deliveredAt: number | null;
  readonly lastError: string | null;
  readonly statusCode: string | null;
  readonly retryCount: number;
  /** The time at which a Pending recipient is due; null during an attempt or while the email is held. */
  readonly nextTryAt: number | null;
  /** The host that may have accepted the message. */
  readonly doubtfulHost: string | null;
  /** The DSN about this recipient that is due to the sender, and the time from which it is due. */
  readonly owes: { readonly kind: DsnKind; readonly at: number } | null;
}

export interface Step extends Omit<OutboundEmailContext, 'pending' | 'failed'> {
  /** Plain JSON. */
  readonly snapshot: unknown;
  readonly status: OutboundStatus;
  /** The time at which the first waiting recipient is due; null when none waits. */
  readonly nextRetryAt: number | null;
  /** The first DSN that is due to the sender, and the time at which it is due. */
  readonly dsnDue: DsnKind | null;
  readonly dsnAt: number | null;
  /** Keyed by recipient id. */
  readonly recipients: ReadonlyMap<string, RecipientState>;
  readonly effects: readonly Effect[];
}

const transition = transitionsOf(outboundEmail);

/** `snapshot`: the result of the previous step; null for an email that begins as a draft. */
export function step(snapshot: unknown, ...events: readonly OutboundEmailEvent[]): Step {
  const effects: Effect[] = [];
  let email = revived(snapshot as StoredSnapshot | null);
  for (const event of events) email = transition(email, event, effects);
  const { context } = email;
  const recipients = new Map<string, RecipientState>();
  for (const [id, recipient] of context.recipients) {
    const { notify: _notify, ...state } = recipient.context;
    recipients.set(id, { status: recipient.value, ...state });
  }
  const owed = firstOwed(recipients.values());
  return {
    snapshot: stored(email),
    status: email.value,
    queuedAt: context.queuedAt,
    heldUntil: context.heldUntil,
    retryCount: context.retryCount,
    lastError: context.lastError,
    sentAt: context.sentAt,
    dsnDue: owed?.kind ?? null,
    dsnAt: owed?.at ?? null,
    delayReported: context.delayReported,
    nextRetryAt: firstDue(recipients.values()),
    recipients,
    effects,
  };
}

/** The time at which the first waiting Pending recipient is due; null when there is none. */
function firstDue(recipients: Iterable<RecipientState>): number | null {
  let first: number | null = null;
  for (const { status, nextTryAt } of recipients) {
    if (status === 'Pending' && nextTryAt !== null) first = Math.min(first ?? nextTryAt, nextTryAt);
  }
  return first;
}

function firstOwed(recipients: Iterable<RecipientState>): RecipientState['owes'] {
  let first: RecipientState['owes'] = null;
  for (const { owes } of recipients)
    if (owes !== null && owes.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = owes;
  return first;
}
