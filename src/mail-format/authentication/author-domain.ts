// The domain of one author, in the form for look-ups. `author-domains.ts` reads the authors of a message.
import { domainToASCII } from 'node:url';
import { parseAddress } from '../address.js';

/** Returns the domain of one author in the form for look-ups; undefined when the text is not an address. */
export function authorDomain(address: string): string | undefined {
  return parseAddress(address)?.domain ?? nearlyDomain(address);
}

/** Reads the domain of an address that breaks the grammar, for example one whose local part is too long. */
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
