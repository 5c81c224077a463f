// The senders whose pictures from elsewhere are shown without being asked for. Anybody can write an address into an email, so only one whose
// sender is proven counts: a picture tells its server who reads.
import type { EmailDetail } from '../../../src/client/index.js';
import { addressKey } from '../compose/address.js';
import { proofOf } from './authentication.js';

/** The server's bound. */
const MOST_SENDERS = 200;

type Sent = Pick<EmailDetail, 'fromAddress' | 'fromIsEnvelopeSender' | 'authentication'>;

/** Mail that was not checked did not come from elsewhere by SMTP: it was written here, or moved here. */
export function hasProvenSender({ fromAddress, fromIsEnvelopeSender, authentication }: Sent): boolean {
  if (!fromAddress.includes('@') || fromIsEnvelopeSender === true) return false;
  const kind = proofOf(authentication, fromAddress)?.kind;
  return kind === undefined || kind === 'signed' || kind === 'confirmed';
}

export function showsPicturesOf(senders: readonly string[], email: Sent): boolean {
  return hasProvenSender(email) && senders.includes(addressKey(email.fromAddress));
}

/** The sender is remembered last; beyond the bound the first ones are forgotten. */
export function withSender(senders: readonly string[], address: string): string[] {
  return [...withoutSender(senders, address), addressKey(address)].slice(-MOST_SENDERS);
}

export function withoutSender(senders: readonly string[], address: string): string[] {
  const key = addressKey(address);
  return senders.filter((one) => one !== key);
}
