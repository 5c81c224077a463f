// The limits of the index, which hold for any input. The blob has the whole message; `truncated` in the index tells which limits were
// reached.

export interface MimeLimits {
  /** Levels of multipart and message/rfc822 parts. */
  readonly depth: number;
  readonly parts: number;
  /** The octets of all headers together, of the message and of its parts. */
  readonly headerOctets: number;
  /** The most addresses of one field. */
  readonly addresses: number;
  readonly references: number;
}

export const DEFAULT_LIMITS: MimeLimits = {
  depth: 100,
  parts: 1000,
  headerOctets: 256 * 1024,
  addresses: 1000,
  references: 100,
};

export type Truncation = 'header' | 'parts' | 'depth' | 'addresses';
