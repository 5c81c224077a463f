// Says which text is a mail address, before the server judges it, and when two addresses are the same. The server's rules are in
// `src/mail-format/address.ts`; these are a little more generous, so that the page refuses no address that the server takes.

/** An address and the name that stands with it; the name may be empty. */
export interface Person {
  readonly name: string;
  readonly address: string;
}

const LONGEST_ADDRESS = 254;
const LONGEST_LOCAL_PART = 64;

const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+)*$/u;
const QUOTED = /^"(?:[^"\\]|\\[ -~])+"$/u;
const LABELS = /^[\p{L}\p{N}\p{M}_-]+(?:[.\u3002\uff0e\uff61][\p{L}\p{N}\p{M}_-]+)*$/u;
const LITERAL = /^\[(?:\d{1,3}(?:\.\d{1,3}){3}|ipv6:[0-9a-f:.]{2,45})\]$/i;
/** Matches control characters, direction marks and other characters that nobody sees. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u;

export function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || text.length > LONGEST_ADDRESS) return false;
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)];
  if (QUOTED.test(local)) return isDomain(domain);
  return local.length <= LONGEST_LOCAL_PART && !UNSEEN.test(local) && DOT_ATOM.test(local) && isDomain(domain);
}

/** Returns the form in which addresses are compared: an IDN equals its ASCII form, and case does not matter. */
export function addressKey(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at).normalize('NFC').toLowerCase();
  return at < 0 ? address.normalize('NFC').toLowerCase() : `${local}@${asciiDomain(address.slice(at + 1))}`;
}

/** Returns the key of the mailbox: `user+tag@domain` reaches `user@domain`. */
export function mailboxKey(address: string): string {
  return addressKey(address).replace(/^([^"+@][^+@]*)\+[^@]*@/, '$1@');
}

/** A name as a list of recipients shows it, without characters that could begin another line. */
export const shownName = (name: string): string =>
  name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 200)
    .replace(/[\ud800-\udbff]$/, '');

/** Returns `"Doe, John" <john@example.org>`, which `parseRecipients` reads again. */
export function personText({ name, address }: Person): string {
  if (name === '') return address;
  const isPlain = /^[^\p{Cc}",;:<>()[\]\\@]+$/u.test(name);
  return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
}

function isDomain(domain: string): boolean {
  if (LITERAL.test(domain)) return true;
  if (!LABELS.test(domain)) return false;
  const ascii = asciiDomain(domain);
  return ascii !== '' && !/(?:^|\.)\d+$/.test(ascii);
}

/** Returns '' when the domain has no ASCII form. */
function asciiDomain(domain: string): string {
  const lower = domain.toLowerCase();
  if (/^[ -~]*$/.test(lower)) return lower;
  try {
    return new URL(`http://${lower.normalize('NFC')}`).hostname;
  } catch {
    return '';
  }
}
