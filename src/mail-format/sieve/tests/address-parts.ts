// The parts of addresses that tests compare (RFC 5228 §2.7.4), with those of subaddress (RFC 5233).
import type { Arguments, Tags } from '../arguments.js';

export const ADDRESS_TAGS: Tags = {
  all: { group: 'address part' },
  localpart: { group: 'address part' },
  domain: { group: 'address part' },
  user: { group: 'address part', needs: ['subaddress'] },
  detail: { group: 'address part', needs: ['subaddress'] },
};

export type AddressPart = 'all' | 'localpart' | 'domain' | 'user' | 'detail';

const SEPARATOR = '+';

export const addressPartOf = (given: Arguments): AddressPart =>
  given.oneOf(['all', 'localpart', 'domain', 'user', 'detail']) ?? 'all';

/** Returns undefined when the address has no such part: a test then does not look at it. */
export function partOfAddress(address: string, part: AddressPart): string | undefined {
  const at = address.lastIndexOf('@');
  if (part === 'all') return address;
  if (at < 0) return undefined;
  if (part === 'domain') return address.slice(at + 1);
  const local = unquoted(address.slice(0, at));
  if (part === 'localpart') return local;
  const plus = local.indexOf(SEPARATOR);
  if (part === 'user') return plus < 0 ? local : local.slice(0, plus);
  return plus < 0 ? undefined : local.slice(plus + SEPARATOR.length);
}

const unquoted = (local: string): string =>
  local.startsWith('"') && local.endsWith('"') ? local.slice(1, -1).replace(/\\(.)/g, '$1') : local;
