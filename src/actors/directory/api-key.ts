// API keys as text: `mansio_<prefix>_<secret>`. The prefix is public and finds the key; the secret is 256 random bits, so a plain
// SHA-256 of the whole key is as good as a slow hash. The store keeps and revokes keys.
import { createHash, timingSafeEqual } from 'node:crypto';

export interface NewApiKey {
  /** The full key, which is shown only once, to the caller that requested it. */
  readonly apiKey: string;
  readonly prefix: string;
  /** SHA-256 of `apiKey`, 64 hex digits. */
  readonly hash: string;
}

const PREFIX_LENGTH = 10;
const SECRET_BYTES = 32;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const FORM = /^mansio_([a-z2-7]{10})_[A-Za-z0-9_-]{43}$/;
const NO_KEY = Buffer.alloc(32);

/** `random` returns this many random octets (`randomBytes`). */
export function newApiKey(random: (octets: number) => Uint8Array): NewApiKey {
  const prefix = Array.from(random(PREFIX_LENGTH), (octet) => ALPHABET[octet & 31]).join('');
  const apiKey = `mansio_${prefix}_${Buffer.from(random(SECRET_BYTES)).toString('base64url')}`;
  return { apiKey, prefix, hash: digest(apiKey).toString('hex') };
}

/** The public prefix of a well-formed key. */
export function parseApiKey(text: string): { readonly prefix: string } | undefined {
  const prefix = FORM.exec(text)?.[1];
  return prefix === undefined ? undefined : { prefix };
}

/** Does the same work for an unknown prefix (`hash` undefined) as for a wrong secret, so that the time reveals nothing. */
export function matchesHash(apiKey: string, hash: string | undefined): boolean {
  const stored = hash === undefined ? NO_KEY : Buffer.from(hash, 'hex');
  return timingSafeEqual(digest(apiKey), stored.length === NO_KEY.length ? stored : NO_KEY) && hash !== undefined;
}

function digest(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}
