// DNS block lists (RFC 5782): the name under which a list has an address, and what its answer means.
import { nibblesOf } from './reverse-name.js';

/** `address` is an IP address in canonical form. */
export function blockListName(address: string, zone: string): string {
  const reversed = address.includes(':') ? nibblesOf(address).toReversed() : address.split('.').reverse();
  return `${reversed.join('.')}.${zone}`;
}

/**
 * `codes`: the A records of the name. An address of 127.0.0.0/8 means that the list has it, except for 127.255.255.0/24, with which lists
 * refuse a resolver, and 127.0.0.1, which a resolver may answer in place of the list. Other addresses are no answer of a list at all.
 */
export function listingIn(codes: readonly string[]): 'listed' | 'refused' | 'clear' {
  if (codes.some((code) => code.startsWith('127.255.255.'))) return 'refused';
  return codes.some((code) => code.startsWith('127.') && code !== '127.0.0.1') ? 'listed' : 'clear';
}
