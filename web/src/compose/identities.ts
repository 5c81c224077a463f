// What is said of each address of the account when mail is from it: its name and its signature are preferences.
import type { AddressIdentity, Preferences } from '../../../src/client/index.js';
import { addressKey } from './address.js';

const isOf = (address: string) => {
  const key = addressKey(address);
  return (identity: AddressIdentity) => addressKey(identity.address) === key;
};

export function identityOf(preferences: Preferences | undefined, address: string): AddressIdentity | undefined {
  return preferences?.identities.find(isOf(address));
}

/** HTML, or empty. `from`: null for the account's own address. */
export function signatureFrom(preferences: Preferences | undefined, from: string | null): string {
  const own = from === null ? undefined : identityOf(preferences, from)?.signature;
  return own ?? preferences?.signature ?? '';
}

/** The identities with a change of one; one that says nothing is left out. */
export function withIdentity(
  identities: readonly AddressIdentity[],
  address: string,
  change: Partial<AddressIdentity>,
): readonly AddressIdentity[] {
  const others = identities.filter((identity) => !isOf(address)(identity));
  const { displayName, signature } = { ...identities.find(isOf(address)), ...change };
  if (!displayName && signature === undefined) return others;
  return [...others, { address, ...(displayName && { displayName }), ...(signature !== undefined && { signature }) }];
}
