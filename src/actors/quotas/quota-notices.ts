// Notices to users whose mailbox is nearly full: each is accepted mail, added in the step that notes that the user is told, so that a
// crossing is told once.
import type { Logger } from 'pino';
import { writeQuotaNotice } from '../../mail-format/reports/quota-notice.js';
import { summarize } from '../../mail-format/summary.js';
import { type BlobStore, blobOf } from '../../store/blobs.js';
import type { AccountQuota, Limits, QuotaStore } from '../../store/limits/quotas.js';
import { deliverLocally } from '../mailbox/outbound/local-deliveries.js';
import type { Mailboxes } from '../mailbox/protocol.js';

export interface QuotaNoticesOptions {
  readonly store: Pick<QuotaStore, 'notice'>;
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly mailboxes: Mailboxes;
  readonly hostname: string;
  readonly newId: () => string;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info'>;
}

export function quotaNotices({ store, blobs, mailboxes, hostname, newId, now, log }: QuotaNoticesOptions) {
  return async ({ accountId, email: address, used }: AccountQuota, limit: Limits): Promise<void> => {
    const receivedAt = now();
    const content = blobOf(writeQuotaNotice({ hostname, id: newId(), now: receivedAt, address, used, limit }));
    const envelope = { receivedAt, summary: summarize(content.index) };
    const id = newId();
    await blobs.put(content);
    if (!(await store.notice(accountId, id, content, envelope))) return;
    log.info({ accountId, ...used }, 'the user is told that the mailbox is nearly full');
    deliverLocally(mailboxes, { accountId, id, blob: content.hash, envelope }, log);
  };
}
