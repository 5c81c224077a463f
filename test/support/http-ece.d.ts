// The part of `http_ece` that is used; the package has no types of its own.
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  interface Parameters {
    readonly version: 'aes128gcm';
    readonly privateKey: ECDH;
    /** base64url. */
    readonly authSecret: string;
  }
  /** @throws Error on what was not encrypted to the key. */
  export function decrypt(content: Buffer, parameters: Parameters): Buffer;
}
