// The account that sends an email, and the addresses as which it may send: its own, verified ones, and aliases.
import type { Profiles } from '../../../../actors/account/protocol.js';
import { canonicalAddress, parseAddress } from '../../../../mail-format/address.js';
import type { OwnAddresses } from '../../../../mail-format/writing/reply.js';
import { unauthenticated } from '../../problem.js';

export const NOT_OWN =
  "must be the account's address, one of its verified addresses at a domain of this server, or an alias that allows it";

/** An account as the sender of mail. */
export interface Sender {
  readonly accountId: string;
  /** The account's own address. */
  readonly email: string;
  readonly displayName: string;
  /** The addresses that are listed; a catch-all allows others. */
  readonly own: OwnAddresses;
  /** Whether the account may send as an address that is not listed. */
  readonly maySendAs: (address: string) => Promise<boolean>;
}

/** @throws Problem 401 when the account was deleted during the request. */
export async function senderOf(profiles: Pick<Profiles, 'read' | 'maySendAs'>, accountId: string): Promise<Sender> {
  const profile = await profiles.read(accountId);
  if (profile === undefined) throw unauthenticated('invalid_token');
  const { email, displayName, additionalAddresses } = profile;
  const additional = additionalAddresses.filter(({ canSend }) => canSend).map(({ address }) => address);
  const own = new Set([email, ...additional].map((address) => canonicalAddress(address) ?? address));
  return { accountId, email, displayName, own, maySendAs: (address) => profiles.maySendAs(accountId, address) };
}

/** The address in the form of the envelope; undefined when the account may not send from it. */
export async function ownAddress({ own, maySendAs }: Sender, address: string): Promise<string | undefined> {
  const parsed = parseAddress(address);
  if (parsed === undefined) return undefined;
  if (!own.has(canonicalAddress(address) ?? '') && !(await maySendAs(address))) return undefined;
  return `${parsed.localPart}@${parsed.domain}`;
}
