// The names of recipients in one line: the reader first, then others by their first names.
import type { Recipient } from '../../../src/client/index.js';

const MOST_NAMES = 4;

/** `me`: what the reader is called. Empty when there are none. */
export function recipientNames(
  recipients: readonly Pick<Recipient, 'address' | 'displayName'>[],
  ownAddresses: readonly string[],
  me: string,
): string {
  const own = new Set(ownAddresses.map((address) => address.toLowerCase()));
  const isOwn = ({ address }: { readonly address: string }) => own.has(address.toLowerCase());
  const others = recipients.filter((one) => !isOwn(one));
  const names = [
    ...(others.length < recipients.length ? [me] : []),
    ...others.map(({ address, displayName }) => displayName.trim().split(/[\s,]+/)[0] || address.split('@')[0]!),
  ];
  const rest = names.length - MOST_NAMES;
  return [...names.slice(0, MOST_NAMES), ...(rest > 0 ? [`+${rest}`] : [])].join(', ');
}
