// Comparators (RFC 4790): `i;octet`, `i;ascii-casemap` (the default) and `i;ascii-numeric`. Texts are compared in the form that `fold` gives.

export type Comparator = 'i;octet' | 'i;ascii-casemap' | 'i;ascii-numeric';

export const isComparator = (name: string): name is Comparator =>
  name === 'i;octet' || name === 'i;ascii-casemap' || name === 'i;ascii-numeric';

/** Letters of ASCII in upper case, as `i;ascii-casemap` orders them (RFC 4790 §9.2.1). */
const upper = (text: string): string =>
  /^\p{ASCII}*$/u.test(text) ? text.toUpperCase() : text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** The text in the form in which `i;octet` compares it. */
export const fold = (comparator: Comparator, text: string): string =>
  comparator === 'i;ascii-casemap' ? upper(text) : text;

/** Returns a number below, above or equal to 0. */
export function order(comparator: Comparator, a: string, b: string): number {
  if (comparator === 'i;ascii-numeric') return orderOfNumbers(digitsOf(a), digitsOf(b));
  return Buffer.compare(Buffer.from(fold(comparator, a)), Buffer.from(fold(comparator, b)));
}

/** The number at the start, without leading zeros; undefined when there is none: it is then above all numbers (RFC 4790 §9.1.1). */
function digitsOf(text: string): string | undefined {
  return /^\d+/.exec(text)?.[0].replace(/^0+(?=\d)/, '');
}

function orderOfNumbers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
