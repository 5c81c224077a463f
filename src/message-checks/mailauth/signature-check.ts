// Checks one signature against the message (RFC 6376 §6.1.3): mailauth canonicalizes the header and reads the key's record; the
// cryptography runs outside of the event loop. `l=` is ignored: the whole body is hashed, so that nobody can append text to a signed
// message (§8.2).
import { createHash, type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { generateCanonicalizedHeader } from 'mailauth/lib/dkim/header/index.js';
import { type Field, getSigningHeaderLines } from 'mailauth/lib/tools.js';
import type { MethodResult } from '../../mail-format/authentication/authentication-results.js';
import { compact, tagList } from '../../mail-format/authentication/tag-list.js';
import { asField } from './fields.js';
import type { PublicKey } from './public-keys.js';
import type { Signature } from './signature.js';

export type SignatureResult = Pick<MethodResult, 'result' | 'comment'>;

const verifyAside = promisify(verify) as (
  algorithm: string | null,
  data: Buffer,
  key: KeyObject,
  signature: Buffer,
) => Promise<boolean>;

/** The result when there is no key, by the codes of mailauth and DNS. */
const NO_KEY: Readonly<Record<string, SignatureResult>> = {
  ENOTFOUND: { result: 'permerror', comment: 'no key' },
  ENODATA: { result: 'permerror', comment: 'no key' },
  EINVALIDVER: { result: 'permerror', comment: 'unknown key version' },
  EINVALIDTYPE: { result: 'permerror', comment: 'unknown key type' },
  EINVALIDVAL: { result: 'permerror', comment: 'invalid key' },
  ESHORTKEY: { result: 'policy', comment: 'weak key' },
};

export interface SignedMessage {
  /** The look-up of the key, which began when the header arrived. */
  readonly key: Promise<PublicKey>;
  readonly fields: readonly Field[];
  /** The base64 hash of the body in the signature's canonicalization. */
  readonly bodyHash: string;
  /** ms since the epoch. */
  readonly now: number;
}

export function keyName({ selector, domain }: Pick<Signature, 'selector' | 'domain'>): string {
  return `${selector}._domainkey.${domain}`;
}

/** Never rejects. */
export async function checkSignature(
  kind: 'DKIM' | 'ARC',
  signature: Signature,
  message: SignedMessage,
): Promise<SignatureResult> {
  const { algorithm, expires } = signature;
  if (signature.bodyHash !== message.bodyHash) return { result: 'fail', comment: 'body hash did not verify' };
  let found: PublicKey;
  try {
    found = await message.key;
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    return NO_KEY[code] ?? { result: 'temperror', comment: 'no answer for the key' };
  }
  if (!allows(found.record, signature)) return { result: 'permerror', comment: 'key not for this use' };
  const lines = getSigningHeaderLines(message.fields, signature.fields, true);
  const { line, canonicalization } = signature;
  const options = { signatureHeaderLine: asField(line).line, canonicalization };
  const { canonicalizedHeader } = generateCanonicalizedHeader(kind, lines, options);
  const isRsa = algorithm === 'rsa-sha256';
  try {
    // RFC 8463 §3: Ed25519 signs the hash.
    const data = isRsa ? canonicalizedHeader : createHash('sha256').update(canonicalizedHeader).digest();
    const octets = Buffer.from(signature.signature, 'base64');
    if (!(await verifyAside(isRsa ? algorithm : null, data, found.key, octets)))
      return { result: 'fail', comment: 'signature did not verify' };
  } catch {
    return { result: 'permerror', comment: 'key and signature do not fit' };
  }
  if (expires !== undefined && expires * 1000 < message.now) return { result: 'policy', comment: 'expired' };
  return { result: 'pass' };
}

/** RFC 6376 §3.6.1: checks the hashes, services and identities that the key is for. */
function allows(record: string, { agentDomain, domain, algorithm }: Signature): boolean {
  const tags = tagList(record);
  if (tags === undefined) return true;
  const list = (name: string) =>
    compact(tags.get(name) ?? '')
      .toLowerCase()
      .split(':');
  const one = (name: string, ...any: readonly string[]) =>
    !tags.has(name) || list(name).some((each) => any.includes(each));
  const type = tags.get('k')?.toLowerCase() ?? 'rsa';
  if (type !== algorithm.slice(0, algorithm.indexOf('-'))) return false;
  if (!one('h', 'sha256') || !one('s', '*', 'email')) return false;
  return agentDomain === domain || !list('t').includes('s');
}
