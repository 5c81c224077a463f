// Whether a message goes round in circles (docs/interface/mail.md, "Loops"; RFC 5321 §6.3): by how many hosts have had it, and by the mailboxes
// that had it before.
import { canonicalAddress } from './address.js';
import type { MessageIndex } from './message-index.js';

/** `Received` fields a message may come with. */
const MAX_RECEIVED = 50;

/** Our own `Received` is among them. */
export function hasCircled({ receivedCount }: Pick<MessageIndex, 'receivedCount'>): boolean {
  return receivedCount > MAX_RECEIVED + 1;
}

/** Whether the message was delivered to the address before. */
export function wasDeliveredTo({ deliveredTo }: Pick<MessageIndex, 'deliveredTo'>, address: string): boolean {
  if (deliveredTo.length === 0) return false;
  const canonical = canonicalAddress(address);
  return canonical !== undefined && deliveredTo.some((passed) => (canonicalAddress(passed) ?? passed) === canonical);
}
