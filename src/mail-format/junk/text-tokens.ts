// The tokens of a text: its words, pairs of neighbouring words, and in HTML the traits of the markup and the hosts of links.
import { hashed, hashOf, hashOfBoth, type TokenSet } from './token-set.js';

const SHORTEST = 3;
const LONGEST = 24;

const WORD = hashOf('word:');
const PAIR = hashOf('pair:');
const LONG = hashOf('long:');
const TAG = hashOf('tag:');
const VALUE = hashOf('value:');
const TRAIT = hashOf('trait:');

/** What an octet is within a word: 0 ends it, another number is what is hashed. */
const FOLDED = new Uint8Array(256);
for (let octet = 0; octet < 256; octet++) {
  const character = String.fromCharCode(octet);
  if (/[a-z0-9$'!\x80-\xff]/.test(character)) FOLDED[octet] = octet;
  else if (/[A-Z]/.test(character)) FOLDED[octet] = octet | 0x20;
}
const LESS = 0x3c;
const MORE = 0x3e;

export function textTokens(octets: Uint8Array, isHtml: boolean, tokens: TokenSet): void {
  const { length } = octets;
  let before = 0;
  let at = 0;
  let words = 0;
  let letters = 0;
  while (at < length) {
    const octet = octets[at]!;
    if (isHtml && octet === LESS) {
      at = tagTokens(octets, at, tokens);
      continue;
    }
    let folded = FOLDED[octet]!;
    if (folded === 0) {
      at++;
      continue;
    }
    const start = at;
    let hash = WORD;
    while (folded !== 0 && at < length) {
      hash = hashed(hash, folded);
      folded = FOLDED[octets[++at]!]!;
    }
    const size = at - start;
    words++;
    letters += size;
    if (size > LONGEST) {
      tokens.add(hashed(LONG, size >> 4));
      before = 0;
      continue;
    }
    if (size >= SHORTEST) tokens.add(hash);
    if (before !== 0) tokens.add(hashOfBoth(hashOfBoth(PAIR, before), hash));
    before = hash;
  }
  if (isHtml) tokens.add(hashed(TRAIT, words === 0 ? 0 : 1 + Math.min(15, Math.floor((16 * letters) / length))));
}

/** Adds the name of the tag, and words of its values; returns the offset after the tag. */
function tagTokens(octets: Uint8Array, start: number, tokens: TokenSet): number {
  const found = octets.indexOf(MORE, start);
  const end = found < 0 ? octets.length : found;
  let at = start + 1;
  let name = TAG;
  for (; at < end && FOLDED[octets[at]!] !== 0; at++) name = hashed(name, FOLDED[octets[at]!]!);
  tokens.add(name);
  let before = name;
  let count = 0;
  while (at < end && count < 40) {
    while (at < end && !isInValue(octets[at]!)) at++;
    let value = VALUE;
    const first = at;
    for (; at < end && isInValue(octets[at]!); at++) value = hashed(value, FOLDED[octets[at]!] || octets[at]!);
    if (at === first) break;
    count++;
    if (at - first > 2 * LONGEST) continue;
    tokens.add(hashOfBoth(name, value));
    tokens.add(hashOfBoth(before, value));
    before = value;
  }
  return end + 1;
}

/** Letters, digits, and the dots, hyphens and signs of hosts, colours and sizes. */
const isInValue = (octet: number): boolean =>
  FOLDED[octet] !== 0 || octet === 0x2e || octet === 0x2d || octet === 0x23 || octet === 0x25;
