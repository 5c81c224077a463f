// Header fields in the form that mailauth reads. mailauth asks a field for its octets to canonicalize them, and for its text to parse it;
// here the two differ. The text holds only what Mansio has parsed strictly (mailauth's parser takes `__proto__` for a name and ignores
// comments). The octets are protected from its definition of white space: RFC 6376 §2.8 has two such octets, mailauth also takes 0xA0,
// which is part of many letters in UTF-8.
import type { Field } from 'mailauth/lib/tools.js';
import type { HeaderLine } from '../../mail-format/header/header-lines.js';

/** `text` is the text of the whole field; '' when mailauth must not parse it. */
export function asField({ raw, name }: HeaderLine, text = ''): Field {
  const octets = raw.replace(/[\v\f\xa0]/g, shielded);
  const line = { toString: (encoding?: string) => (encoding === 'binary' ? octets : text) };
  return { key: name, casedKey: raw.slice(0, name.length), line };
}

/** Returns another character that becomes the same octet. */
function shielded(char: string): string {
  return String.fromCharCode(char.charCodeAt(0) + 0x100);
}
