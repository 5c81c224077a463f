// Mail addresses (RFC 5321 §4.1.2 Mailbox, RFC 6531 for non-ASCII): which text is an address, and the canonical form that
// all look-ups use. The MIME index reads header fields leniently; the directory knows the owner of an address.
import { domainToASCII, domainToUnicode } from 'node:url';

export interface Address {
  /** The local part as it is written, without unnecessary quotes. */
  readonly localPart: string;
  /** Lower-case ASCII (IDN in its A-label form), or an address literal in brackets. */
  readonly domain: string;
}

/** RFC 5321 §4.5.3.1, in octets. */
const LONGEST_LOCAL_PART = 64;
/** Addresses of the Sender Rewriting Scheme contain another address, so forwarding hosts make longer local parts. */
const SRS = /^"?SRS[01][=+-]/i;
const LONGEST_DOMAIN = 255;
const LONGEST_ADDRESS = 254;

/** Matches most addresses (a dot-atom and an ASCII host name), so that they need no check of each character. */
const PLAIN =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+)*$/u;
const QUOTED = /^"((?:[^"\\]|\\[ -~])*)"$/u;
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Matches DNS names that are not host names: some senders have such domains (RFC 2181 §11). */
const NAME_WITH_UNDERSCORES = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Matches the full stop and the characters of other scripts that stand for it (RFC 5895 §2). */
const DOTS = /[.\u3002\uff0e\uff61]/;
const UNICODE_LABEL = /^(?:[\p{L}\p{N}\p{M}-]|\p{Join_Control})+$/u;
/** Matches control characters, direction marks and other invisible characters: two addresses that look the same must be the same. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** Matches joiners, which are parts of words in some scripts (RFC 5892 §A.1, §A.2). In domains, IDN decides about them. */
const JOINERS = /\p{Join_Control}/gu;
const LITERAL = /^\[(?:\d{1,3}(?:\.\d{1,3}){3}|ipv6:[0-9a-f:.]{2,45})\]$/;

/** Returns undefined when the text is not an address. The caller trims the text. */
export function parseAddress(text: string): Address | undefined {
  return parse(text, HOST_NAME);
}

/** Parses the address of a sender: its domain may have underscores, which DNS allows. Mansio sends no mail to such a domain. */
export function parseSender(text: string): Address | undefined {
  return parse(text, NAME_WITH_UNDERSCORES);
}

function parse(text: string, name: RegExp): Address | undefined {
  if (text.length > LONGEST_ADDRESS) return undefined;
  const at = text.lastIndexOf('@');
  if (at < 1) return undefined;
  if (at <= longestLocalPart(text) && PLAIN.test(text)) {
    const domain = text.slice(at + 1).toLowerCase();
    return isNumbered(domain) ? undefined : { localPart: text.slice(0, at), domain };
  }
  const [left, right] = [text.slice(0, at), text.slice(at + 1)];
  if (UNSEEN.test(left) || UNSEEN.test(right.replace(JOINERS, ''))) return undefined;
  const localPart = parseLocalPart(left.normalize('NFC'));
  const domain = parseDomain(right, name);
  if (localPart === undefined || domain === undefined) return undefined;
  if (Buffer.byteLength(localPart) + 1 + domain.length > LONGEST_ADDRESS) return undefined;
  return { localPart, domain };
}

const longestLocalPart = (text: string): number => (SRS.test(text) ? LONGEST_ADDRESS : LONGEST_LOCAL_PART);

function parseLocalPart(text: string): string | undefined {
  if (Buffer.byteLength(text) > longestLocalPart(text)) return undefined;
  if (DOT_ATOM.test(text)) return /\s/u.test(text) ? undefined : text;
  const content = QUOTED.exec(text)?.[1]?.replace(/\\(.)/gu, '$1');
  if (content === undefined || content === '') return undefined;
  // RFC 5321 §4.1.2: unnecessary quotes are not part of the local part.
  if (DOT_ATOM.test(content) && !/\s/u.test(content)) return content;
  return `"${content.replace(/["\\]/g, '\\$&')}"`;
}

function parseDomain(text: string, name: RegExp): string | undefined {
  const lower = text.toLowerCase();
  if (lower.startsWith('[')) return LITERAL.test(lower) ? lower : undefined;
  const ascii = text.split(DOTS).map(asciiLabel).join('.');
  if (ascii.length > LONGEST_DOMAIN || !name.test(ascii)) return undefined;
  return isNumbered(ascii) ? undefined : ascii;
}

/** RFC 3696 §2: a top-level domain is not all digits; that would be an IP address without brackets. */
function isNumbered(domain: string): boolean {
  return /(?:^|\.)\d+$/.test(domain);
}

/**
 * Returns the A-label of a label (RFC 5890), or '' when it has none. domainToASCII maps some characters to others (`①` to `1`), which would
 * change the domain: a label is valid when domainToUnicode returns it unchanged.
 */
function asciiLabel(label: string): string {
  if (isAscii(label)) return label.toLowerCase();
  const lower = label.toLowerCase().normalize('NFC');
  if (isAscii(lower) || !UNICODE_LABEL.test(lower)) return '';
  const ascii = domainToASCII(lower);
  return domainToUnicode(ascii) === lower ? ascii : '';
}

const isAscii = (text: string): boolean => /^[ -~]*$/.test(text);

/** Returns the form in which an address is looked up: lower case, no `+tag`, `local@domain`. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  const { localPart, domain } = address;
  const plus = localPart.startsWith('"') ? -1 : localPart.indexOf('+');
  // The dots before a tag are removed too: `a.+tag` is `a`. A local part that is only a tag keeps the tag.
  const name = plus > 0 ? localPart.slice(0, plus).replace(/\.+$/, '') || localPart : localPart;
  return `${name.toLowerCase().normalize('NFC')}@${domain}`;
}

/** Returns true when the address has a `+tag`, which the form for look-ups omits. */
export function hasTag(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  return canonicalAddress(text) !== `${address.localPart.toLowerCase().normalize('NFC')}@${address.domain}`;
}

/** The form in which addresses elsewhere are compared: lower case, with A-labels. Undefined when the text is no address. */
export function foldedAddress(text: string): string | undefined {
  const address = parseAddress(text);
  return address && `${address.localPart}@${address.domain}`.toLowerCase();
}
