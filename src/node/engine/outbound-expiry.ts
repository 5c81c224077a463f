// Deletes outbound emails some days after their last change, once they are sent or failed and their senders are notified. A command of its
// mailbox, which alone writes them, deletes each. The copies in Sent are separate emails, and stay.
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { OutboundStore } from '../../store/outbound.js';

const DAY_MS = 24 * 3_600_000;
const EMAILS_A_PASS = 10_000;

interface ExpirySources {
  readonly outbound: Pick<OutboundStore, 'expired'>;
  readonly mailboxes: Mailboxes;
  readonly isStopped: () => boolean;
}

/**
 * Returns the number of deleted emails. `keepDays`: 0 keeps all of them. `now`: ms since the epoch.
 * @throws the last fault of a mailbox that could not be asked, after all others were asked
 */
export async function expireOutbound(
  { outbound, mailboxes, isStopped }: ExpirySources,
  keepDays: number,
  now: number,
): Promise<number> {
  if (keepDays === 0) return 0;
  const changedBefore = now - keepDays * DAY_MS;
  const failed = new Map<string, unknown>();
  let removed = 0;
  for (const { accountId, outboundId } of await outbound.expired(changedBefore, EMAILS_A_PASS)) {
    if (isStopped()) break;
    if (failed.has(accountId)) continue;
    try {
      const { reply } = await mailboxes.of(accountId).ask('removeOutbound', { outboundId, changedBefore });
      if (reply?.isRemoved === true) removed++;
    } catch (error) {
      failed.set(accountId, error);
    }
  }
  for (const error of failed.values()) throw error;
  return removed;
}
