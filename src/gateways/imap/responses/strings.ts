// Formats an `nstring` from a binary string, where each character is one octet: fields of headers.
import { quoted } from '../wire/format.js';

/** Matches nearly every value. */
const PLAIN = /^[ !#-[\]-~\t]{0,2000}$/;

export function octetString(octets: string | null): string {
  if (octets === null) return 'NIL';
  return PLAIN.test(octets) ? `"${octets}"` : quoted(Buffer.from(octets, 'latin1'));
}
