// `nstring` of octets that are in a binary string already, of which each character is an octet: fields of headers.
import { quoted } from '../wire/format.js';

/** Nearly every value. */
const PLAIN = /^[ !#-[\]-~\t]{0,2000}$/;

export function octetString(octets: string | null): string {
  if (octets === null) return 'NIL';
  return PLAIN.test(octets) ? `"${octets}"` : quoted(Buffer.from(octets, 'latin1'));
}
