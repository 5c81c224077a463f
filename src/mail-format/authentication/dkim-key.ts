// DKIM keys (RFC 6376 §3.3, RFC 8463): which private keys can sign, and the TXT record that publishes the public key.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

export interface DkimKey {
  readonly algorithm: 'rsa' | 'ed25519';
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

/** RFC 8301 §3.2: verifiers reject a weaker key. */
const LEAST_BITS = 1024;
/** The octets that one string of a TXT record may have (RFC 1035 §3.3.14). */
const LONGEST_STRING = 255;

/** @throws Error that names the problem of the key, never its content */
export function readDkimKey(pem: string): DkimKey {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    const isLocked = (error as { code?: string }).code === 'ERR_MISSING_PASSPHRASE' || /ENCRYPTED/.test(pem);
    throw new Error(isLocked ? 'the private key is locked with a passphrase' : 'not a private key in PEM form');
  }
  return dkimKey(key);
}

/** @throws Error for a key type that DKIM does not have */
export function dkimKey(key: KeyObject): DkimKey {
  const algorithm = key.asymmetricKeyType;
  if (algorithm !== 'rsa' && algorithm !== 'ed25519')
    throw new Error(`DKIM signs with RSA or Ed25519 keys, not with one of type ${algorithm}`);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (algorithm === 'rsa' && bits < LEAST_BITS)
    throw new Error(`the RSA key has ${bits} bits; fewer than ${LEAST_BITS} are not believed`);
  return { algorithm, privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Returns the DNS name of the public key of a selector. */
export function dkimRecordName(domain: string, selector: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** Returns the strings of the TXT record (RFC 6376 §3.6.1). */
export function dkimRecord({ algorithm, privateKey }: DkimKey): readonly string[] {
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  // The last 32 octets are the key itself (RFC 8463 §4).
  const key = (algorithm === 'ed25519' ? der.subarray(-32) : der).toString('base64');
  return `v=DKIM1; k=${algorithm}; p=${key}`.match(new RegExp(`.{1,${LONGEST_STRING}}`, 'g'))!;
}
