// The keys that a browser sends with a push subscription (RFC 8291 §2): a point of P-256 and a secret, both as base64url. Standard base64
// and padding are accepted too, because scripts that encode by hand use them.
import { ECDH } from 'node:crypto';

const POINT_OCTETS = 65;
const SECRET_OCTETS = 16;
const UNCOMPRESSED = 4;

/** The point in base64url; undefined when the text is not such a point. */
export function clientPublicKey(text: string): string | undefined {
  const octets = decoded(text, POINT_OCTETS);
  if (octets === undefined || octets[0] !== UNCOMPRESSED) return undefined;
  try {
    ECDH.convertKey(octets, 'prime256v1', undefined, undefined, 'uncompressed');
  } catch {
    // The point is not on the curve.
    return undefined;
  }
  return octets.toString('base64url');
}

/** The secret in base64url; undefined when the text is not such a secret. */
export function clientSecret(text: string): string | undefined {
  return decoded(text, SECRET_OCTETS)?.toString('base64url');
}

function decoded(text: string, length: number): Buffer | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text) || text.length > 2 * length) return undefined;
  const octets = Buffer.from(text, 'base64url');
  return octets.length === length ? octets : undefined;
}
