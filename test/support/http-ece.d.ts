// The used part of `http_ece`; the package has no types of its own.
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  interface Parameters {
    readonly version: 'aes128gcm';
    readonly privateKey: ECDH;
    /** In base64url. */
    readonly authSecret: string;
  }
  /** @throws Error for content that was not encrypted to the key */
  export function decrypt(content: Buffer, parameters: Parameters): Buffer;
}
