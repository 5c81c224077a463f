// The account that sends an email: its own address and the additional ones that are verified.
import type { Profiles } from '../../../../actors/account/protocol.js';
import { canonicalAddress, parseAddress } from '../../../../mail-format/address.js';
import type { OwnAddresses } from '../../../../mail-format/writing/reply.js';
import { unauthenticated } from '../../problem.js';

export const NOT_OWN = "must be the account's address or one of its verified additional addresses";

/** An account as the sender of mail. */
export interface Sender {
  readonly accountId: string;
  /** The account's own address. */
  readonly email: string;
  readonly displayName: string;
  readonly own: OwnAddresses;
}

/** @throws Problem 401 when the account was deleted during the request. */
export async function senderOf(profiles: Pick<Profiles, 'read'>, accountId: string): Promise<Sender> {
  const profile = await profiles.read(accountId);
  if (profile === undefined) throw unauthenticated('invalid_token');
  const { email, displayName, additionalAddresses } = profile;
  const verified = additionalAddresses.filter(({ isVerified }) => isVerified).map(({ address }) => address);
  const own = new Set([email, ...verified].map((address) => canonicalAddress(address) ?? address));
  return { accountId, email, displayName, own };
}

/** The address in the form of the envelope; undefined when the account may not send from it. */
export function ownAddress({ own }: Sender, address: string): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined || !own.has(canonicalAddress(address) ?? '')) return undefined;
  return `${parsed.localPart}@${parsed.domain}`;
}
