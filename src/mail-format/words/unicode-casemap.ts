// The collation i;unicode-casemap (RFC 5051): the form in which texts are compared and searched case-insensitively. Letters with accents
// are decomposed, so a search for the base letter finds them.

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Upper case is used because it does not depend on the neighbours of a letter, as the lower case of sigma does. */
export function casemapped(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toUpperCase();
  return text.normalize('NFKD').toUpperCase().normalize('NFKD');
}

/** Returns the form for searches: a run of white space is one space, so a text is found whatever its line breaks are. */
export function searchForm(text: string): string {
  return casemapped(text).replace(/[^\S ]\s*| \s+/g, ' ');
}
