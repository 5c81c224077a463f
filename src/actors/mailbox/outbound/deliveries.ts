// Deliveries of outbound mail: a delivery begins, reports outcomes and ends (sender-dsns.ts has the DSNs). The commit that records a
// delivery to a mailbox of this store also hands over the message, so each mailbox gets it once.

import { type Step, step } from '../../../machines/outbound-email/step.js';
import { takersIn, withTakers } from '../../../machines/outbound-email/stored-snapshot.js';
import type { OutboundEmailEvent } from '../../../machines/outbound-email/types.js';
import { isUuid } from '../../../mail-format/ids.js';
import type { SentOnward } from '../../../mail-format/sent-onward.js';
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { DeliveryAttempt, DsnKind, OutboundRow } from '../../../store/outbound.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxHandlers } from '../commands/command-handlers.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { DeliveryProtocol } from './delivery-protocol.js';
import type { StartedDelivery } from './delivery-slots.js';
import { rowToRead } from './prefetch.js';
import { advance } from './step.js';
import { suppressedAmong, suppressRefused } from './suppressions.js';

/** Characters that are stored of a remote server's reply. */
const MOST_TEXT = 1_000;

type Names = 'startDelivery' | 'reportDelivery';

export const deliveryCommands: Pick<MailboxHandlers<DeliveryProtocol>, Names> = {
  startDelivery: { reads: (payload) => ({ ...rowToRead(payload), sending: {} }), plan: startDelivery },
  reportDelivery: {
    reads: ({ outboundId: id, outcomes }) => ({
      outbound: { id, needsSummary: outcomes.some(isForMailboxHere) },
      sending: { isCounting: outcomes.some(isRefused) },
    }),
    plan: reportDelivery,
  },
};

type Report = Payload<DeliveryProtocol, 'reportDelivery'>;

/** Whether a mailbox of this store gets the message. */
function isForMailboxHere({ kind, localAccountId }: Report['outcomes'][number]): boolean {
  return kind === 'delivered' && localAccountId !== undefined;
}

const isRefused = ({ kind }: Report['outcomes'][number]): boolean => kind === 'permanent';

/** Names the accounts of an outcome as a transport does. */
function outcomeOf({ localAccountId, otherLocalAccountIds = [], ...outcome }: Report['outcomes'][number]) {
  return localAccountId === undefined
    ? outcome
    : { ...outcome, localAccountIds: [localAccountId, ...otherLocalAccountIds] };
}

function startDelivery(
  tx: MailboxTransaction,
  { outboundId, attempt, supersedes }: Payload<DeliveryProtocol, 'startDelivery'>,
): Outcome<DeliveryProtocol, 'startDelivery'> {
  const row = isUuid(outboundId) ? tx.outbound.get(outboundId) : undefined;
  if (row === undefined) return { refusal: 'noSuchOutbound' };
  if (row.awaitsRelease || tx.sending.isSuspended) return { refusal: 'notDue' };
  const isDue = row.status === 'Queued' && row.nextRetryAt !== null && row.nextRetryAt <= tx.now;
  const isLeftBehind = row.status === 'Sending' && supersedes !== null && row.attempt?.id === supersedes;
  if (!isDue && !isLeftBehind) return { refusal: 'notDue' };
  tx.begin();
  const started = { ...row, attempt: { id: attempt.id, by: attempt.by } };
  const start = { type: 'start', now: tx.now } as const;
  const due = underWay(row, step(row.machine, start)).map(({ id }) => id);
  const suppressed = suppressedAmong(
    tx,
    row.recipients.filter(({ id }) => due.includes(id)),
  );
  keepAttempts(tx, row.id, suppressed.attempts);
  const next = step(row.machine, start, ...suppressed.events);
  return { reply: startedOf(tx, advance(tx, started, next), next) };
}

/** The facts of an email that its delivery needs. */
export function startedOf(tx: MailboxTransaction, row: OutboundRow, next: Step): StartedDelivery {
  const { blob, size, sender, messageId, createdAt, retryCount } = row;
  const dsn = row.dsn && { ret: row.dsn.ret, envid: row.dsn.envid };
  const email = { blob, size, sender, messageId, createdAt, retryCount, dsn };
  return { ...email, recipients: underWay(row, next), retryInMs: retryInMs(tx, next) };
}

/** Recipients whose attempts have begun and have no answer yet. */
function underWay({ recipients, dsn }: OutboundRow, next: Step): StartedDelivery['recipients'] {
  return recipients
    .filter(({ id, status }) => status === 'Pending' && next.recipients.get(id)?.nextTryAt === null)
    .map(({ id, address, domain }) => {
      const doubtfulHost = next.recipients.get(id)?.doubtfulHost ?? null;
      const asked = dsn?.recipients[id];
      const { notify, orcpt } = asked ?? {};
      return {
        id,
        address,
        domain,
        ...(doubtfulHost !== null && { doubtfulHost }),
        ...(asked !== undefined && { dsn: { notify: notify == null ? null : [...notify], orcpt: orcpt ?? null } }),
      };
    });
}

/** A duration instead of a time, because the clocks of two nodes differ. */
function retryInMs(tx: MailboxTransaction, { nextRetryAt }: Step): number | null {
  // No further attempts begin while sending is suspended, so the delivery waits for none.
  return nextRetryAt === null || tx.sending.isSuspended ? null : Math.max(0, nextRetryAt - tx.now);
}

/** Whether the server wrote or forwarded the message: strangers decide how much of that is refused. */
const isAutomatic = ({ sender, dsn }: OutboundRow): boolean => sender === '' || dsn?.reportTo !== undefined;

function reportDelivery(tx: MailboxTransaction, report: Report): Outcome<DeliveryProtocol, 'reportDelivery'> {
  const { outboundId, attemptId, outcomes, attempts } = report;
  const row = isUuid(outboundId) ? tx.outbound.get(outboundId) : undefined;
  if (row === undefined) return { refusal: 'noSuchOutbound' };
  if (row.status !== 'Sending' || row.attempt?.id !== attemptId) return { refusal: 'notUnderWay' };
  const events = eventsOf(tx, report);
  const stepped = step(row.machine, ...events);
  const takers = takersOf(row, stepped, outcomes.map(outcomeOf));
  const next = noted(stepped, takers);
  const summary = takers.length === 0 ? undefined : tx.outbound.summary(outboundId);
  if (!isAutomatic(row)) tx.sending.countRefused(outcomes.filter(isRefused).length);
  tx.begin();
  keepAttempts(tx, outboundId, attempts);
  const advanced = advance(tx, row, next);
  suppressRefused(tx, row, outcomes, attempts);
  const localDeliveries = summary === undefined ? [] : recordLocalDeliveries(tx, row, summary, takers);
  const { status, nextRetryAt } = advanced;
  const dsnDue = advanced.dsnAt !== null && advanced.dsnAt <= tx.now ? advanced.dsnDue : null;
  // Due attempts begin with this report. If none was due, the delivery already knows every attempt that is under way.
  const wasDue = row.nextRetryAt !== null && row.nextRetryAt <= tx.now;
  const begins = report.begins === true && !tx.sending.isSuspended;
  const recipients = begins && status === 'Sending' && wasDue ? underWay(advanced, next) : [];
  return { reply: { status, localDeliveries, nextRetryAt, dsnDue, recipients, retryInMs: retryInMs(tx, next) } };
}

/** An account of this store whose mailbox gets a message, and its address as the sender gave it. */
export interface Taker {
  readonly accountId: string;
  readonly address: string;
  readonly onward: SentOnward | undefined;
}

/** The step, which remembers who gets the message. */
export function noted(next: Step, takers: readonly Taker[]): Step {
  const placed = takers.filter(({ onward }) => onward?.isPlaced !== false).map(({ accountId }) => accountId);
  return placed.length === 0 ? next : { ...next, snapshot: withTakers(next.snapshot, placed) };
}

/** Accounts of this store whose mailboxes get the message in this step: none that has got it with an earlier recipient. */
export function takersOf(
  { recipients, machine }: OutboundRow,
  next: Step,
  outcomes: readonly {
    readonly recipientId: string;
    readonly kind: string;
    readonly localAccountIds?: readonly string[] | undefined;
    readonly localOnward?: Readonly<Record<string, SentOnward>> | undefined;
  }[],
): readonly Taker[] {
  const takers = new Map<string, readonly Taker[]>();
  const before = new Set(takersIn(machine));
  for (const { kind, recipientId, localAccountIds, localOnward } of outcomes) {
    const pending = recipients.find(({ id, status }) => id === recipientId && status === 'Pending');
    const isDelivered = next.recipients.get(recipientId)?.status === 'Delivered';
    if (kind !== 'delivered' || localAccountIds === undefined || pending === undefined || !isDelivered) continue;
    const { address } = pending;
    takers.set(
      recipientId,
      localAccountIds.flatMap((accountId) => {
        const onward = localOnward?.[accountId];
        if (!before.has(accountId)) return [{ accountId, address, onward }];
        return onward === undefined ? [] : [{ accountId, address, onward: { ...onward, isPlaced: false } }];
      }),
    );
  }
  return [...takers.values()].flat();
}

export function recordLocalDeliveries(
  tx: MailboxTransaction,
  { blob, sender }: OutboundRow,
  summary: MessageSummary,
  takers: readonly Taker[],
) {
  return takers.map(({ accountId, address: recipient, onward }) => {
    const inboundId = tx.otherId();
    const envelope = { receivedAt: tx.now, summary, sender };
    tx.outbound.deliverLocally({ accountId, id: inboundId, blob, envelope, recipient, ...(onward && { onward }) });
    return { accountId, inboundId };
  });
}

/** Records the attempts in the timeline. */
export function keepAttempts(tx: MailboxTransaction, outboundId: string, attempts: readonly DeliveryAttempt[]): void {
  for (const attempt of attempts) {
    tx.outbound.attempt(outboundId, storable(attempt));
  }
}

function eventsOf(
  tx: MailboxTransaction,
  { outcomes, postponed = [], isOver, isInterrupted, begins = false }: Report,
): OutboundEmailEvent[] {
  // One random number for all: recipients of a domain that were tried together become due together.
  const planned = { now: tx.now, random: tx.random(), policy: tx.retryPolicy };
  const events: OutboundEmailEvent[] = outcomes.map(
    ({ recipientId, kind, text, statusCode, doubtfulHost, onward }) => ({
      type: 'answer',
      recipientId,
      kind,
      text: plain(text),
      statusCode: plain(statusCode),
      ...(doubtfulHost !== undefined && { doubtfulHost: plain(doubtfulHost) }),
      onward,
      ...planned,
    }),
  );
  if (postponed.length > 0) events.push({ type: 'postpone', recipientIds: postponed, ...planned });
  if (isOver) events.push({ type: 'end', isInterrupted, ...planned });
  else if (begins && !tx.sending.isSuspended) events.push({ type: 'start', now: tx.now });
  return events;
}

/** Ids of the recipients about whom a DSN of this kind is due. */
export function owedBy({ machine, dsnDue }: OutboundRow, kind: DsnKind): readonly string[] {
  if (dsnDue === null) return [];
  return [...step(machine).recipients].flatMap(([id, { owes }]) => (owes?.kind === kind ? [id] : []));
}

function storable(attempt: DeliveryAttempt): DeliveryAttempt {
  const { id, at, durationMs, domain, host, remoteAddress, tls, reply, recipients } = attempt;
  return { id, at, durationMs, domain, host, remoteAddress, tls, reply: plain(reply), recipients };
}

/** Shortens the text of a remote server and removes what the store cannot hold. */
function plain(text: string): string {
  return Buffer.from(text.slice(0, MOST_TEXT)).toString().replaceAll('\0', '');
}
