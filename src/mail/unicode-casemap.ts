// The collation i;unicode-casemap (RFC 5051): the form of a text in which texts are compared and searched without regard to
// case. Letters with accents decompose, so a search for the letter finds them.

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Upper case, because that does not depend on the letters around a letter, as the lower case of sigma does. */
export function casemapped(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toUpperCase();
  return text.normalize('NFKD').toUpperCase().normalize('NFKD');
}

/** For searches: a run of white space is one space, so a text is found whatever its line breaks are. */
export function searchForm(text: string): string {
  return casemapped(text).replace(/[^\S ]\s*| \s+/g, ' ');
}
