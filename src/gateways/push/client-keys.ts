// The keys that a browser gives with a push subscription (RFC 8291 §2): a point of P-256 and a secret, both as base64url.
// Standard base64 and padding are taken too: scripts that encode by hand use them.
import { ECDH } from 'node:crypto';

const POINT_OCTETS = 65;
const SECRET_OCTETS = 16;
const UNCOMPRESSED = 4;

/** In base64url; undefined when it is no such point. */
export function clientPublicKey(text: string): string | undefined {
  const octets = decoded(text, POINT_OCTETS);
  if (octets === undefined || octets[0] !== UNCOMPRESSED) return undefined;
  try {
    ECDH.convertKey(octets, 'prime256v1', undefined, undefined, 'uncompressed');
  } catch {
    // Not on the curve.
    return undefined;
  }
  return octets.toString('base64url');
}

/** In base64url; undefined when it is no such secret. */
export function clientSecret(text: string): string | undefined {
  return decoded(text, SECRET_OCTETS)?.toString('base64url');
}

function decoded(text: string, length: number): Buffer | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text) || text.length > 2 * length) return undefined;
  const octets = Buffer.from(text, 'base64url');
  return octets.length === length ? octets : undefined;
}
