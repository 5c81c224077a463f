// The flags of an email (RFC 9051 §2.3.2): those that have a bit, and keywords, which are any other names that users choose. `\Deleted` is
// neither: it belongs to a placement, because an email may be deleted in one folder and stay in another.

export const SEEN = 1;
export const ANSWERED = 2;
export const FLAGGED = 4;
export const DRAFT = 8;
const FORWARDED = 16;
const MDN_SENT = 32;
export const JUNK = 64;
export const NOT_JUNK = 128;
const PHISHING = 256;

export const DELETED_FLAG = '\\Deleted';

export const FLAG_NAMES: readonly (readonly [bit: number, name: string])[] = [
  [SEEN, '\\Seen'],
  [ANSWERED, '\\Answered'],
  [FLAGGED, '\\Flagged'],
  [DRAFT, '\\Draft'],
  [FORWARDED, '$Forwarded'],
  [MDN_SENT, '$MDNSent'],
  [JUNK, '$Junk'],
  [NOT_JUNK, '$NotJunk'],
  [PHISHING, '$Phishing'],
];

/** The most distinct keywords per account. */
export const MOST_KEYWORDS = 200;
const LONGEST_KEYWORD = 100;
/** One or more ATOM-CHAR (RFC 9051 §9). */
const ATOM = /^[!#$&'+,\-./0-9:;<=>?@A-Z[^_`a-z|}~]+$/;

const BITS = new Map(FLAG_NAMES.map(([bit, name]) => [name.toLowerCase(), bit]));

/** Returns the flag's bit, in any case of its name; 0 when the flag has none. */
export const flagBit = (name: string): number => BITS.get(name.toLowerCase()) ?? 0;

export const flagNames = (bits: number): string[] =>
  FLAG_NAMES.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name);

export const isDeletedFlag = (name: string): boolean => name.toLowerCase() === DELETED_FLAG.toLowerCase();

/** Returns true when the name can be a keyword: an atom (RFC 9051 `flag-keyword`) of at most 100 octets that has no bit. */
export const isKeyword = (name: string): boolean =>
  name.length <= LONGEST_KEYWORD && ATOM.test(name) && flagBit(name) === 0;
