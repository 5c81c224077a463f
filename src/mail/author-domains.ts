// Whose name a message bears: the domains of its From field, which DMARC holds its policy against (RFC 7489 §6.6.1). Read as
// leniently as what is shown to people, and from every From field, so that no form shows an author that was not checked.
import { domainToASCII } from 'node:url';
import { parseAddress } from './address.js';
import { fieldValue, type HeaderLine } from './header-lines.js';
import { addressList } from './mime-index/address-list.js';
import { eightBit, WordDecoder } from './mime-index/header-text.js';

/** Addresses and fields that are read. */
const MOST = 50;

/** In the form that is looked up, each once, in order. Empty when no author has a domain. */
export function authorDomains(lines: readonly HeaderLine[]): readonly string[] {
  const domains = new Set<string>();
  const words = new WordDecoder();
  const fields = lines.filter(({ name }) => name === 'from').slice(0, MOST);
  for (const field of fields) {
    for (const { address } of addressList(eightBit(fieldValue(field).trim()), MOST, words).addresses) {
      const domain = parseAddress(address)?.domain ?? nearlyDomain(address);
      if (domain !== undefined) domains.add(domain);
    }
  }
  return [...domains];
}

/** Of what is no address by the book, such as one with a local part that is too long. */
function nearlyDomain(text: string): string | undefined {
  const name = text
    .slice(text.lastIndexOf('@') + 1)
    .trim()
    .replace(/\.$/, '')
    .toLowerCase();
  if (!text.includes('@') || name.length > 255) return undefined;
  const ascii = /^[ -~]*$/.test(name) ? name : domainToASCII(name);
  return /^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?$/.test(ascii) ? ascii : undefined;
}
