// The limits of the index, whatever a peer sends. The blob has the whole message; the index says in `truncated` which limits
// were reached.

export interface MimeLimits {
  /** Levels of multipart and message/rfc822 parts. */
  readonly depth: number;
  readonly parts: number;
  /** Octets of all headers together, of the message and of its parts. */
  readonly headerOctets: number;
  /** Addresses of one field. */
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
