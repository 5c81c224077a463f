// Fields of a header as mailauth reads them. It asks one for its octets to canonicalize them, and for its text to parse it;
// here the two differ. The text holds what was read strictly before (its own parser takes `__proto__` for a name and
// comments for nothing), the octets are kept from its idea of white space (RFC 6376 §2.8 knows two octets, its own takes
// 0xA0 too, which is in many letters of UTF-8).
import type { Field } from 'mailauth/lib/tools.js';
import type { HeaderLine } from '../mail/header-lines.js';

/** `text`: of the field as a whole; '' when mailauth has no business with what is in it. */
export function asField({ raw, name }: HeaderLine, text = ''): Field {
  const octets = raw.replace(/[\v\f\xa0]/g, shielded);
  const line = { toString: (encoding?: string) => (encoding === 'binary' ? octets : text) };
  return { key: name, casedKey: raw.slice(0, name.length), line };
}

/** Another character that becomes the same octet. */
function shielded(char: string): string {
  return String.fromCharCode(char.charCodeAt(0) + 0x100);
}
