// Detects mail loops (docs/interface/mail.md, "Loops"; RFC 5321 §6.3) by the number of hosts that received the message and by the mailboxes
// that it was delivered to before.
import { canonicalAddress } from './address.js';
import type { MessageIndex } from './message-index.js';

/** The most `Received` fields of an incoming message. */
const HOP_LIMIT = 50;

/** The count includes the `Received` field of this server. */
export function exceedsHopLimit({ receivedCount }: Pick<MessageIndex, 'receivedCount'>): boolean {
  return receivedCount > HOP_LIMIT + 1;
}

/** Returns true when the message was delivered to the address before. */
export function wasDeliveredTo({ deliveredTo }: Pick<MessageIndex, 'deliveredTo'>, address: string): boolean {
  if (deliveredTo.length === 0) return false;
  const canonical = canonicalAddress(address);
  return canonical !== undefined && deliveredTo.some((passed) => (canonicalAddress(passed) ?? passed) === canonical);
}
