// A soft authenticator and its browser (WebAuthn Level 3): makes passkeys of ES256 and answers challenges with them. A test may let it lie.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What a test may change in an answer. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly format?: string;
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id?: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId?: string;
}

const base64url = (octets: Uint8Array | string): string => Buffer.from(octets).toString('base64url');
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

export class SoftAuthenticator {
  readonly id = base64url(randomBytes(16));
  readonly #origin: string;
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  #counter: number;
  #userHandle = '';

  /** `counter`: the number of signatures so far; 0 for one that does not count. */
  constructor(origin: string, counter = 0) {
    this.#origin = origin;
    this.#counter = counter;
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  /** navigator.credentials.create */
  create({ challenge, rp, user }: CreationOptions, lies: Lies = {}) {
    this.#userHandle = user.id;
    const id = Buffer.from(this.id, 'base64url');
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' });
    const key = map([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x!, 'base64url')],
      [-3, Buffer.from(y!, 'base64url')],
    ]);
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.of(id.length >> 8, id.length & 255), id, key]);
    const authData = Buffer.concat([this.#data(lies.rpId ?? rp.id!, 0x40, lies), attested]);
    const attestation = map([
      ['fmt', lies.format ?? 'none'],
      ['attStmt', lies.format === undefined ? map([]) : map([['x5c', 'no list']])],
      ['authData', authData],
    ] as never);
    const clientDataJSON = this.#clientData('webauthn.create', challenge, lies);
    return {
      ...{ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} },
      response: { clientDataJSON, attestationObject: base64url(attestation), transports: ['internal'] },
    };
  }

  /** navigator.credentials.get */
  get({ challenge, rpId }: RequestOptions, lies: Lies = {}) {
    if (this.#counter > 0) this.#counter++;
    const authenticatorData = this.#data(lies.rpId ?? rpId!, 0, lies);
    const clientDataJSON = this.#clientData('webauthn.get', challenge, lies);
    const digest = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signature = sign('sha256', Buffer.concat([authenticatorData, digest]), this.#keys.privateKey);
    const userHandle = lies.userHandle ?? this.#userHandle;
    return {
      ...{ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON,
        authenticatorData: base64url(authenticatorData),
        signature: base64url(signature),
        userHandle,
      },
    };
  }

  #clientData(type: string, challenge: string, lies: Lies): string {
    const data = {
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? this.#origin,
    };
    return base64url(JSON.stringify({ ...data, crossOrigin: false }));
  }

  /** Flags: the user is present (1) and verified (4). */
  #data(rpId: string, flags: number, { isVerified = true, counter = this.#counter }: Lies): Buffer {
    const head = Buffer.alloc(5);
    head[0] = flags | 1 | (isVerified ? 4 : 0);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(rpId), head]);
  }
}

type Cbor = number | string | Uint8Array;

/** CBOR (RFC 8949) of a map; values that are octets of a map stand for themselves. */
function map(entries: readonly (readonly [Cbor, Cbor])[]): CborMap {
  return new CborMap(Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)]));
}

class CborMap extends Uint8Array {}

function cbor(value: Cbor): Uint8Array {
  if (value instanceof CborMap) return value;
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  return Buffer.concat([head(2, value.length), value]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  return length < 256 ? Buffer.of((major << 5) | 24, length) : Buffer.of((major << 5) | 25, length >> 8, length & 255);
}
