// Notices that sending is limited or suspended: accepted mail for the user and for the operator of the domain, who gets its postmaster's mail.
// The store places each in the step that notes that they are told.
import type { Logger } from 'pino';
import { writeLimitNotice, writeSuspensionNotice } from '../../mail-format/reports/sending-notice.js';
import { summarize } from '../../mail-format/summary.js';
import { type BlobStore, blobOf } from '../../store/blobs.js';
import type { AccountSending, PlacedNotice } from '../../store/limits/sending.js';
import type { Postmasters } from '../directory/protocol.js';
import { deliverLocally } from '../mailbox/outbound/local-deliveries.js';
import type { Mailboxes } from '../mailbox/protocol.js';
import { limitText, type SendingLimitsOptions } from './sending-limits.js';

export interface SendingNoticesOptions {
  readonly postmasterOf: Postmasters['postmasterOf'];
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly mailboxes: Mailboxes;
  readonly hostname: string;
  readonly newId: () => string;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info'>;
}

export function sendingNotices(options: SendingNoticesOptions): SendingLimitsOptions['notices'] {
  const { postmasterOf, blobs, mailboxes, hostname, newId, now, log } = options;

  async function stored({ accountId, email }: AccountSending, message: Uint8Array): Promise<PlacedNotice> {
    const content = blobOf(message);
    await blobs.put(content);
    const operator = await postmasterOf(email.slice(email.lastIndexOf('@') + 1));
    const accountIds = new Set([accountId, ...(operator === undefined ? [] : [operator])]);
    const envelope = { receivedAt: now(), summary: summarize(content.index) };
    const inboxes = [...accountIds].map((each) => ({ accountId: each, inboundId: newId() }));
    return { blob: content.hash, envelope, inboxes };
  }

  const about = ({ email: address }: AccountSending) => ({ hostname, id: newId(), now: now(), address });
  return {
    ofLimit: (account, limit) => stored(account, writeLimitNotice({ ...about(account), limit: limitText(limit) })),
    ofSuspension: (account, reason) => stored(account, writeSuspensionNotice({ ...about(account), reason })),
    placed({ blob, envelope, inboxes }) {
      for (const { accountId, inboundId: id } of inboxes)
        deliverLocally(mailboxes, { accountId, id, blob, envelope }, log);
    },
  };
}
