// What the request that sends a draft says besides its id: when it leaves, and which email it answers or forwards.
import type { SendDraftInput } from '../../../src/client/index.js';
import type { KeptWindow } from './journal.js';

/** `sendAt`: ISO 8601, null for at once. */
export function sendOptions(
  { sendAt }: { readonly sendAt: string | null },
  original: KeptWindow['original'],
  now: Date,
): SendDraftInput {
  // The time may have passed while there was no network.
  const isLater = sendAt !== null && Date.parse(sendAt) > now.getTime();
  return { ...(isLater && { sendAt }), ...(original !== null && { [original.how]: original.emailId }) };
}
