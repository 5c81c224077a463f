// Delivery status notifications (DSNs) to senders (RFC 3464): composed from the mailbox's record of the delivery and the header of the
// message, stored, and passed to the mailbox, which places them in the inbox.
import type { Logger } from 'pino';
import { WorkQueue } from '../../concurrency/work-queue.js';
import { lastRetryAt, type RetryPolicy } from '../../machines/outbound-email/retry.js';
import { SUPPRESSED } from '../../mail-format/outbound-status.js';
import { writeDsn } from '../../mail-format/reports/dsn.js';
import { summarize } from '../../mail-format/summary.js';
import { type BlobStore, blobOf } from '../../store/blobs.js';
import { clock } from '../../store/clock.js';
import type { DsnKind, OutboundStore } from '../../store/outbound.js';
import type { DeliveryMailboxes, DeliveryProtocol } from '../mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../runtime/errors.js';
import type { Reply } from '../runtime/protocol.js';
import { type DeliveryMeter, NO_DELIVERY_METER } from './meter.js';

export interface SenderDsnsOptions {
  readonly store: Pick<OutboundStore, 'dsnsDue'>;
  readonly blobs: Pick<BlobStore, 'index' | 'read' | 'put'>;
  readonly mailboxes: DeliveryMailboxes;
  /** The name of this host. */
  readonly hostname: string;
  readonly retry: RetryPolicy;
  readonly newId: () => string;
  readonly log: Logger;
  readonly meter?: DeliveryMeter;
}

type Material = Reply<DeliveryProtocol, 'dsnMaterial'>;

/** DSNs that are composed at a time. */
const AT_ONCE = 10;
/** The most emails whose DSNs wait or back off; the store has the others. */
const MOST_WAITING = 5_000;
/** The emails of a read. */
const PAGE = 100;
/** The most reads in a row that pass over accounts whose share is used up; the next poll goes on. */
const MOST_READS = 8;
const BACKOFF = { firstMs: 500, longestMs: 30_000 };
/** The most octets of the message's header that a DSN repeats. */
const HEADER_OCTETS = 64 * 1024;
/** The DSN returns the header alone of a larger message, whatever RET says (RFC 3461 §4.3 allows this). */
const RETURNED_OCTETS = 1024 * 1024;

export class SenderDsns {
  readonly #options: SenderDsnsOptions;
  /** Emails whose DSNs are due. */
  readonly #queue: WorkQueue;

  constructor(options: SenderDsnsOptions) {
    this.#options = options;
    const { log } = options;
    this.#queue = new WorkQueue({
      work: (outboundId, { holder }) => this.#give(holder, outboundId),
      failed: (outboundId, err, accountId) =>
        log.warn({ accountId, outboundId, err }, 'a sender could not be notified yet'),
      workers: AT_ONCE,
      most: MOST_WAITING,
      backoff: BACKOFF,
    });
  }

  /** Composes a due DSN for the email's sender. If the queue has no room for it, `read` finds the email later. */
  give(accountId: string, outboundId: string): void {
    this.#queue.add(outboundId, accountId);
  }

  /** Reads from the store which emails have a due DSN. @throws StoreFault */
  async read(shards: readonly number[]): Promise<void> {
    // Accounts whose share of the queue is used up do not hide the DSNs of others.
    const full = new Set<string>();
    for (let reads = 0; reads < MOST_READS; reads++) {
      const known = full.size;
      const limit = Math.min(this.#queue.free, PAGE);
      if (limit === 0) return;
      const due = await this.#options.store.dsnsDue(shards, limit, this.#queue.keys, [...full]);
      for (const { accountId, outboundId } of due) if (!this.#queue.add(outboundId, accountId)) full.add(accountId);
      if (full.size === known) return;
    }
  }

  /** Resolves when no DSN is being composed. Begins no further ones. */
  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #give(accountId: string, outboundId: string): Promise<undefined> {
    const { mailboxes, blobs, log, meter = NO_DELIVERY_METER } = this.#options;
    const mailbox = mailboxes.of(accountId);
    try {
      for (let isMoreDue = true; isMoreDue; ) {
        const { reply: material } = await mailbox.ask('dsnMaterial', { outboundId });
        const kind = material?.kind;
        if (material === undefined || kind === undefined || kind === null) return;
        const { recipientIds } = material;
        const content = blobOf(await this.#compose(kind, material));
        await blobs.put(content);
        const report = { blob: content.hash, summary: summaryOf(content.index) };
        const { reply, refusal } = await mailbox.ask('giveDsn', { outboundId, kind, recipientIds, report });
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

  async #compose(kind: DsnKind, { email, recipientIds, dsn, attempts }: Material): Promise<Uint8Array> {
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
          const text = lastError === SUPPRESSED ? suppressedText(last?.reply) : lastError;
          const said = isSuccess ? { statusCode: null, text: null } : { statusCode, text };
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

/** `reply`: that of the attempt in the timeline, which quotes the reply that caused the suppression. */
function suppressedText(reply: string = SUPPRESSED): string {
  return `Nothing is sent to this address for 30 days after an email to it came back. ${reply}`;
}
