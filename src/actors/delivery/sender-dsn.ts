// Delivery status notifications (DSNs) to senders (RFC 3464): composed from the mailbox's record of the delivery and the header of the
// message, stored, and passed to the mailbox, which places them in the inbox.
import type { Logger } from 'pino';
import { lastRetryAt, type RetryPolicy } from '../../machines/outbound-email/retry.js';
import { writeDsn } from '../../mail/dsn.js';
import { summarize } from '../../mail/summary.js';
import { type BlobStore, blobOf } from '../../store/blobs.js';
import { clock } from '../../store/clock.js';
import type { OutboundStore, ReportKind } from '../../store/outbound.js';
import type { DeliveryMailboxes, DeliveryProtocol } from '../mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../runtime/errors.js';
import type { Reply } from '../runtime/protocol.js';
import { type DeliveryMeter, NO_DELIVERY_METER } from './meter.js';
import type { DeliveryScheduler } from './scheduler/scheduler.js';

export interface SenderNotificationsOptions {
  readonly store: Pick<OutboundStore, 'reportsDue'>;
  readonly blobs: Pick<BlobStore, 'index' | 'read' | 'put'>;
  readonly mailboxes: DeliveryMailboxes;
  readonly scheduler: DeliveryScheduler;
  /** The name of this host. */
  readonly hostname: string;
  readonly retry: RetryPolicy;
  readonly newId: () => string;
  readonly log: Logger;
  readonly meter?: DeliveryMeter;
}

type Material = Reply<DeliveryProtocol, 'reportMaterial'>;

/** The most octets of the message's header that a DSN repeats. */
const HEADER_OCTETS = 64 * 1024;
/** The DSN returns the header alone of a larger message, whatever RET says (RFC 3461 §4.3 allows this). */
const RETURNED_OCTETS = 1024 * 1024;

export class SenderNotifications {
  readonly #options: SenderNotificationsOptions;
  /** Keyed by email id. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: SenderNotificationsOptions) {
    this.#options = options;
  }

  /** Composes a due DSN for the email's sender. If no slot is free for it, `read` finds the email later. */
  give(accountId: string, outboundId: string): void {
    const { scheduler, log } = this.#options;
    if (this.#underWay.has(outboundId) || !scheduler.takeNotification(accountId, outboundId)) return;
    let hasFailed = false;
    const work = this.#give(accountId, outboundId)
      .catch((error) => {
        hasFailed = true;
        log.warn({ accountId, outboundId, err: error }, 'a sender could not be notified yet');
      })
      .finally(() => {
        this.#underWay.delete(outboundId);
        scheduler.releaseNotification(accountId, outboundId, hasFailed);
      });
    this.#underWay.set(outboundId, work);
  }

  /** Reads from the store which emails have a due DSN. @throws StoreFault */
  async read(shards: readonly number[]): Promise<void> {
    const { scheduler, store } = this.#options;
    const { freeNotifications, refusedNotifications } = scheduler;
    if (freeNotifications <= 0) return;
    const except = [...this.#underWay.keys(), ...refusedNotifications];
    const due = await store.reportsDue(shards, freeNotifications, except);
    for (const { accountId, outboundId } of due) this.give(accountId, outboundId);
  }

  /** Resolves when no DSN is being composed. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  async #give(accountId: string, outboundId: string): Promise<void> {
    const { mailboxes, blobs, log, meter = NO_DELIVERY_METER } = this.#options;
    const mailbox = mailboxes.of(accountId);
    try {
      for (let isMoreDue = true; isMoreDue; ) {
        const { reply: material } = await mailbox.ask('reportMaterial', { outboundId });
        const kind = material?.kind;
        if (material === undefined || kind === undefined || kind === null) return;
        const { recipientIds } = material;
        const content = blobOf(await this.#compose(kind, material));
        await blobs.put(content);
        const report = { blob: content.hash, summary: summaryOf(content.index) };
        const { reply, refusal } = await mailbox.ask('giveReport', { outboundId, kind, recipientIds, report });
        // Another node has placed it.
        if (refusal !== undefined) return;
        isMoreDue = reply.isMoreDue;
        meter.reported(kind);
        log.info({ accountId, outboundId, kind, emailId: reply.emailId }, 'the sender is notified');
      }
    } catch (error) {
      if (error instanceof ActorFault && error.code === 'no-such-account') return;
      throw error;
    }
  }

  async #compose(kind: ReportKind, { email, recipientIds, dsn, attempts }: Material): Promise<Uint8Array> {
    const { hostname, retry, newId } = this.#options;
    const { recipients, nextRetryAt, retryCount, blob, size } = email;
    const isWhole = kind === 'failed' && dsn?.ret === 'FULL' && size <= RETURNED_OCTETS;
    return writeDsn({
      kind,
      hostname,
      id: newId(),
      now: clock.now(),
      envid: dsn?.envid ?? null,
      email: {
        ...email,
        header: await this.#headerOf(blob),
        content: isWhole ? await this.#contentOf(blob, size) : null,
      },
      recipients: recipients
        .filter(({ id }) => recipientIds.includes(id))
        .map(({ id, address, statusCode, lastError }) => {
          const last = attempts.findLast((attempt) => attempt.recipients.some((tried) => tried.id === id));
          const orcpt = dsn?.recipients[id]?.orcpt ?? null;
          const isSuccess = kind === 'delivered' || kind === 'relayed';
          const said = isSuccess ? { statusCode: null, text: null } : { statusCode, text: lastError };
          return { address, orcpt, ...said, host: last?.host ?? null, attemptedAt: last?.at ?? null };
        }),
      delivered: recipients.filter(({ status }) => status === 'Delivered').map(({ address }) => address),
      retriedUntil: nextRetryAt === null ? null : lastRetryAt(nextRetryAt, retryCount, retry),
    });
  }

  async #headerOf(blob: string): Promise<Uint8Array> {
    const { blobs } = this.#options;
    const index = await blobs.index(blob);
    // A DSN without the header is better than none.
    if (index === undefined) return new Uint8Array(0);
    return blobs.read(blob, 0, Math.min(index.root.bodyStart, HEADER_OCTETS));
  }

  /** null when the message does not exist. */
  async #contentOf(blob: string, size: number): Promise<Uint8Array | null> {
    const { blobs } = this.#options;
    if ((await blobs.index(blob)) === undefined) return null;
    return blobs.read(blob, 0, size);
  }
}

function summaryOf(index: Parameters<typeof summarize>[0]) {
  const summary = summarize(index);
  return { ...summary, references: [...summary.references] };
}
