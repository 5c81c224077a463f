// Stand-in until the real one is merged: canonical form of an address.
import { domainToASCII } from 'node:url';

/** Lower case, without `+tag`, domain in ASCII; undefined when it is not an address. */
export function canonicalAddress(text: string): string | undefined {
  const match = /^([^\s@<>(),;:\\"[\]]{1,64})@([^\s@]{1,255})$/.exec(text);
  if (match === null) return undefined;
  const local = match[1]!.toLowerCase().replace(/(?!^)\+.*$/, '');
  const domain = domainToASCII(match[2]!).toLowerCase();
  return /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(domain) ? `${local}@${domain}` : undefined;
}
