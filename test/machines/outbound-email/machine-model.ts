// Models an outbound email in plain objects, with every rule of the machine written a second time.

import type { RetryPolicy } from '../../../src/machines/outbound-email/retry.js';
import type { Effect, OutboundEmailEvent } from '../../../src/machines/outbound-email/types.js';
import type { DsnKind } from '../../../src/mail-format/outbound-status.js';
import type { Notify } from '../../../src/mail-format/reports/dsn-request.js';

const HOUR = 3_600_000;

interface ModelRecipient {
  status: 'Pending' | 'Delivered' | 'Failed';
  deliveredAt: number | null;
  lastError: string | null;
  statusCode: string | null;
  retryCount: number;
  /** null while a delivery runs, while the email is scheduled, and when it is no longer Pending. */
  nextTryAt: number | null;
  doubtfulHost: string | null;
  owes: { kind: DsnKind; at: number } | null;
}

const CONDITIONS = { failed: 'FAILURE', delayed: 'DELAY', delivered: 'SUCCESS', relayed: 'SUCCESS' } as const;
/** In ms. Failures within this time share a DSN. */
const SHARED_MS = 55_000;

/** Has all rules in one place, without states that pass anything on. */
export class Model {
  status = 'Queued' as 'Draft' | 'Queued' | 'Sending' | 'Sent' | 'Failed';
  recipients: ModelRecipient[];
  queuedAt: number | null;
  heldUntil: number | null;
  retryCount = 0;
  lastError: string | null = null;
  sentAt: number | null = null;
  delayReported = false;
  effects: Effect[] = [{ type: 'announce', status: 'Queued' }];
  readonly #notify: readonly Notify[];

  /** `begins`: the delivery begins at once; never true for a scheduled email. */
  constructor(notify: readonly Notify[], now: number, heldUntil: number | undefined, begins: boolean) {
    this.#notify = notify;
    this.queuedAt = heldUntil ?? now;
    this.heldUntil = heldUntil ?? null;
    if (heldUntil === undefined && !begins) this.effects.push({ type: 'due' });
    this.recipients = notify.map(() => ({
      status: 'Pending',
      deliveredAt: null,
      lastError: null,
      statusCode: null,
      retryCount: 0,
      nextTryAt: heldUntil === undefined ? now : null,
      doubtfulHost: null,
      owes: null,
    }));
    if (begins) this.#start(now);
  }

  get nextRetryAt(): number | null {
    const times = this.pending.flatMap(({ nextTryAt }) => nextTryAt ?? []);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** The DSN that is due first. */
  get owed(): ModelRecipient['owes'] {
    const owed = this.recipients.flatMap(({ owes }) => owes ?? []);
    return owed.find(({ at }) => owed.every((other) => at <= other.at)) ?? null;
  }

  get pending(): ModelRecipient[] {
    return this.recipients.filter(({ status }) => status === 'Pending');
  }

  apply(event: OutboundEmailEvent, who: number): void {
    this.effects = [];
    if (event.type === 'reported') {
      const told = this.recipients[who];
      if (told?.owes?.kind === event.kind) told.owes = null;
    }
    if (event.type === 'bounce') this.#bounce(event, this.recipients[who]);
    const mayStart = (this.status === 'Queued' && this.heldUntil === null) || this.status === 'Sending';
    if (event.type === 'start' && mayStart) this.#start(event.now);
    if (event.type === 'postpone' && this.status === 'Sending') this.#wait(event, this.recipients[who]);
    if (event.type === 'answer' && this.status === 'Sending') this.#answer(event, this.recipients[who]);
    if (event.type === 'end' && this.status === 'Sending') this.#end(event);
    if (event.type === 'cancel' && this.status === 'Queued') this.#cancel(event);
    if (event.type === 'retry' && (this.status === 'Queued' || this.status === 'Failed')) this.#retry(event.now);
  }

  #start(now: number): void {
    for (const recipient of this.pending) if ((recipient.nextTryAt ?? now) <= now) recipient.nextTryAt = null;
    if (this.status === 'Queued') this.#become('Sending');
  }

  #become(status: Model['status']): void {
    this.status = status;
    this.effects.push({ type: 'announce', status });
  }

  #answer(event: Extract<OutboundEmailEvent, { type: 'answer' }>, recipient: ModelRecipient | undefined): void {
    if (recipient?.status !== 'Pending') return;
    const { now, policy, random } = event;
    if (event.kind === 'delivered') {
      Object.assign(recipient, { status: 'Delivered', deliveredAt: now, nextTryAt: null, owes: null });
      if (event.onward !== 'passed') this.#owe(recipient, event.onward ?? 'delivered', now + SHARED_MS);
      return;
    }
    Object.assign(recipient, { lastError: event.text, statusCode: event.statusCode });
    this.lastError = event.text;
    if (event.kind === 'permanent' || recipient.retryCount >= policy.maxRetries) {
      Object.assign(recipient, { status: 'Failed', nextTryAt: null });
      this.#owe(recipient, 'failed', now + SHARED_MS);
      return;
    }
    recipient.doubtfulHost = event.doubtfulHost ?? recipient.doubtfulHost;
    recipient.nextTryAt = now + delay(policy, recipient.retryCount, random);
    recipient.retryCount++;
    this.retryCount = Math.max(this.retryCount, recipient.retryCount);
    this.#delayed(now);
  }

  #wait(event: Extract<OutboundEmailEvent, { type: 'postpone' }>, recipient: ModelRecipient | undefined): void {
    if (recipient?.status !== 'Pending' || recipient.nextTryAt !== null) return;
    recipient.nextTryAt = event.now + delay(event.policy, 0, event.random);
  }

  #end({ now, random, policy, isInterrupted }: Extract<OutboundEmailEvent, { type: 'end' }>): void {
    if (this.pending.length === 0) {
      const isFailed = this.recipients.some(({ status }) => status === 'Failed');
      if (!isFailed) this.sentAt = now;
      this.#reportAll(now);
      this.#become(isFailed ? 'Failed' : 'Sent');
      return;
    }
    for (const recipient of this.pending) recipient.nextTryAt ??= now + (isInterrupted ? 0 : delay(policy, 0, random));
    this.#become('Queued');
    if (isInterrupted) this.effects.push({ type: 'due' });
    this.#delayed(now);
  }

  #delayed(now: number): void {
    if (this.delayReported || now - (this.queuedAt ?? now) < 4 * HOUR) return;
    this.delayReported = true;
    for (const recipient of this.pending) this.#owe(recipient, 'delayed', now);
    if (this.owed !== null) this.effects.push({ type: 'report' });
  }

  #owe(recipient: ModelRecipient, kind: DsnKind, at: number): void {
    const notify = this.#notify[this.recipients.indexOf(recipient)] ?? ['FAILURE', 'DELAY'];
    recipient.owes = notify.includes(CONDITIONS[kind]) ? { kind, at } : null;
  }

  #reportAll(now: number): void {
    if (this.owed === null) return;
    for (const { owes } of this.recipients) if (owes !== null) owes.at = now;
    this.effects.push({ type: 'report' });
  }

  #bounce({ recipients: [named] }: Extract<OutboundEmailEvent, { type: 'bounce' }>, bounced?: ModelRecipient): void {
    if (this.status === 'Sent' || this.status === 'Failed') this.#become('Failed');
    if (bounced?.status !== 'Delivered') return;
    Object.assign(bounced, { status: 'Failed', lastError: named!.text, statusCode: named!.statusCode, owes: null });
    this.lastError = named!.text;
  }

  /** Makes it a draft that was never sent. */
  #undo(): void {
    this.recipients = [];
    this.queuedAt = null;
    this.heldUntil = null;
    this.lastError = null;
    this.#become('Draft');
  }

  #cancel({ by, now }: Extract<OutboundEmailEvent, { type: 'cancel' }>): void {
    if (by === 'sender' && this.heldUntil !== null) {
      this.#undo();
      return;
    }
    const text = `Cancelled by the ${by}.`;
    for (const recipient of this.pending) {
      Object.assign(recipient, { status: 'Failed', nextTryAt: null, owes: null });
      if (by === 'operator') this.#owe(recipient, 'failed', now + SHARED_MS);
      if (recipient.lastError === null) Object.assign(recipient, { lastError: text, statusCode: '5.0.0' });
    }
    this.lastError = text;
    this.heldUntil = null;
    this.#reportAll(now);
    this.#become('Failed');
  }

  #retry(now: number): void {
    if (this.heldUntil !== null) Object.assign(this, { heldUntil: null, queuedAt: now });
    if (this.status === 'Failed') {
      for (const recipient of this.recipients) {
        if (recipient.status === 'Failed') Object.assign(recipient, { status: 'Pending', retryCount: 0, owes: null });
      }
      this.retryCount = 0;
      this.queuedAt = now;
      this.#become('Queued');
    }
    for (const recipient of this.pending) recipient.nextTryAt = now;
    this.effects.push({ type: 'due' });
  }
}

function delay({ baseMs, capMs }: RetryPolicy, retryCount: number, random: number): number {
  return Math.round(Math.min(capMs, baseMs * 2 ** retryCount) * (0.9 + 0.2 * random));
}
