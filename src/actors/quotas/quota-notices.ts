// Notices to users whose mailbox is nearly full, and to operators of domains that are: each is accepted mail, added in the step that notes
// that its reader is told, so that a crossing is told once.
import type { Logger } from 'pino';
import { writeDomainQuotaNotice, writeQuotaNotice } from '../../mail-format/reports/quota-notice.js';
import { summarize } from '../../mail-format/summary.js';
import { type BlobStore, blobOf } from '../../store/blobs.js';
import type { AccountQuota, DomainQuota, Limits, QuotaStore } from '../../store/limits/quotas.js';
import type { Postmasters } from '../directory/protocol.js';
import { deliverLocally } from '../mailbox/outbound/local-deliveries.js';
import type { Mailboxes } from '../mailbox/protocol.js';

export interface QuotaNoticesOptions {
  readonly store: Pick<QuotaStore, 'notice' | 'noticeDomain'>;
  readonly postmasterOf: Postmasters['postmasterOf'];
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly mailboxes: Mailboxes;
  readonly hostname: string;
  readonly newId: () => string;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export function quotaNotices(options: QuotaNoticesOptions) {
  const { store, postmasterOf, blobs, mailboxes, hostname, newId, now, log } = options;
  async function notify({ accountId, email: address, used }: AccountQuota, limit: Limits): Promise<void> {
    const receivedAt = now();
    const content = blobOf(writeQuotaNotice({ hostname, id: newId(), now: receivedAt, address, used, limit }));
    const envelope = { receivedAt, summary: summarize(content.index) };
    const id = newId();
    await blobs.put(content);
    if (!(await store.notice(accountId, id, content, envelope))) return;
    log.info({ accountId, ...used }, 'the user is told that the mailbox is nearly full');
    deliverLocally(mailboxes, { accountId, id, blob: content.hash, envelope }, log);
  }

  async function notifyOfDomain({ name: domain, used }: DomainQuota, limit: Limits): Promise<void> {
    const accountId = await postmasterOf(domain);
    const receivedAt = now();
    const content = blobOf(writeDomainQuotaNotice({ hostname, id: newId(), now: receivedAt, domain, used, limit }));
    const envelope = { receivedAt, summary: summarize(content.index) };
    const inboundId = newId();
    if (accountId !== undefined) await blobs.put(content);
    const added = accountId === undefined ? undefined : { accountId, inboundId, content, envelope };
    if (!(await store.noticeDomain(domain, added))) return;
    log.warn({ domain, ...used, limit, isMailed: accountId !== undefined }, 'a domain uses nearly all that it may use');
    if (accountId !== undefined)
      deliverLocally(mailboxes, { accountId, id: inboundId, blob: content.hash, envelope }, log);
  }

  return { notify, notifyOfDomain };
}
