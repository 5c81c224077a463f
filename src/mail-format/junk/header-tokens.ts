// The tokens of a header: names of fields, and words of their values with the name of the field.
import { hashed, hashOf, hashOfBoth, type TokenSet } from './token-set.js';

const NAME = hashOf('name:');
const NETWORK = hashOf('network:');
const ORDER = hashOf('order:');
const LF = 0x0a;
const COLON = 0x3a;
const DOT = 0x2e;
const HYPHEN = 0x2d;
/** The words of one field. */
const MOST_WORDS = 60;
const LONGEST = 40;

const fields = (...names: string[]): ReadonlySet<number> => new Set(names.map((name) => hashOf(name, NAME)));
/** Fields of which only the name counts: their values differ in each message, or are of the filter itself and of others like it. */
const NAMED_ONLY = fields('date', 'message-id', 'references', 'in-reply-to', 'dkim-signature', 'domainkey-signature');
/** Fields that do not count at all. */
const PASSED = fields(
  'x-spam-status',
  'x-spam-score',
  'x-spam-level',
  'x-spam-flag',
  'x-spam-checker-version',
  'status',
);
const SUBJECT = hashOf('subject', NAME);
const RECEIVED = hashOf('received', NAME);

export function headerTokens(octets: Uint8Array, tokens: TokenSet): void {
  let at = 0;
  let before = ORDER;
  while (at < octets.length) {
    let name = NAME;
    const start = at;
    while (at < octets.length && octets[at] !== COLON && octets[at] !== LF) name = hashed(name, folded(octets[at++]!));
    if (octets[at] !== COLON || at - start > 60) {
      const next = octets.indexOf(LF, at);
      if (next < 0) return;
      at = next + 1;
      continue;
    }
    const end = endOfField(octets, at);
    if (!PASSED.has(name)) {
      tokens.add(name);
      tokens.add(hashOfBoth(before, name));
      before = hashOfBoth(ORDER, name);
      if (!NAMED_ONLY.has(name)) wordTokens(octets, at + 1, end, name, tokens);
    }
    at = end;
  }
}

/** The offset after the field, with its folded lines. */
function endOfField(octets: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    const next = octets.indexOf(LF, at);
    if (next < 0) return octets.length;
    at = next + 1;
    if (octets[at] !== 0x20 && octets[at] !== 0x09) return at;
  }
}

function wordTokens(octets: Uint8Array, start: number, end: number, field: number, tokens: TokenSet): void {
  const isSubject = field === SUBJECT;
  let before = 0;
  let at = start;
  for (let count = 0; count < MOST_WORDS; count++) {
    while (at < end && !isInWord(octets[at]!)) at++;
    if (at >= end) return;
    const first = at;
    let hash = field;
    let dots = 0;
    let network = NETWORK;
    for (; at < end && isInWord(octets[at]!); at++) {
      const octet = octets[at]!;
      if (octet === DOT && ++dots === 3) network = hash;
      hash = hashed(hash, isSubject ? octet : folded(octet));
    }
    if (at - first > LONGEST) continue;
    tokens.add(hash);
    // The /24 of an IPv4 address.
    if (field === RECEIVED && dots === 3 && isDigit(octets[first]!)) tokens.add(hashOfBoth(NETWORK, network));
    if (before !== 0) tokens.add(hashOfBoth(before, hash));
    if (dots > 0 && !isSubject) domainTokens(octets, first, at, field, tokens);
    before = hash;
  }
}

/** The last two labels of a name. */
function domainTokens(octets: Uint8Array, first: number, end: number, field: number, tokens: TokenSet): void {
  let dots = 0;
  let at = end;
  while (at > first && !(octets[at - 1] === DOT && ++dots === 2)) at--;
  let hash = hashed(field, DOT);
  for (; at < end; at++) hash = hashed(hash, folded(octets[at]!));
  tokens.add(hash);
}

const folded = (octet: number): number => (octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet);
const isDigit = (octet: number): boolean => octet >= 0x30 && octet <= 0x39;
const isInWord = (octet: number): boolean =>
  (octet >= 0x61 && octet <= 0x7a) ||
  (octet >= 0x41 && octet <= 0x5a) ||
  isDigit(octet) ||
  octet >= 0x80 ||
  octet === DOT ||
  octet === HYPHEN ||
  octet === 0x21 ||
  octet === 0x24 ||
  octet === 0x3d;
