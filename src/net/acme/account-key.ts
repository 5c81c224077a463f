// The key of an ACME account: signs requests (RFC 8555 §6.2), and authorizes the answers to challenges (§8.1).
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JWK } from 'jose';

const ALGORITHM = 'ES256';

/** The account of a signed request: its URL, or its key before it has one. */
interface SignedFor {
  readonly nonce: string;
  readonly url: string;
  readonly account: string | undefined;
}

/** Returns a new private key: PKCS #8, PEM. */
export function newAccountKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

export class AccountKey {
  readonly #key: KeyObject;
  readonly #jwk: JWK;
  readonly #thumbprint: string;

  private constructor(key: KeyObject, jwk: JWK, thumbprint: string) {
    this.#key = key;
    this.#jwk = jwk;
    this.#thumbprint = thumbprint;
  }

  static async read(pem: string): Promise<AccountKey> {
    const key = createPrivateKey(pem);
    const jwk = await exportJWK(createPublicKey(key));
    return new AccountKey(key, jwk, await calculateJwkThumbprint(jwk));
  }

  /** Returns the body of a request. `payload` undefined: a POST that reads (RFC 8555 §6.3). */
  async sign(payload: object | undefined, { nonce, url, account }: SignedFor): Promise<string> {
    const octets = payload === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(payload));
    const identity = account === undefined ? { jwk: this.#jwk } : { kid: account };
    const signed = await new FlattenedSign(octets)
      .setProtectedHeader({ alg: ALGORITHM, nonce, url, ...identity })
      .sign(this.#key);
    return JSON.stringify(signed);
  }

  /** What is served for the token (RFC 8555 §8.1). */
  authorization(token: string): string {
    return `${token}.${this.#thumbprint}`;
  }
}
