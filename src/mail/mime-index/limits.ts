// What the index keeps of a message, whatever a peer puts into it. Beyond a limit the message is still whole in its
// blob; only the view of it is partial, and `truncated` says so.

export interface MimeLimits {
  /** Levels of multipart and message/rfc822 parts. */
  readonly depth: number;
  readonly parts: number;
  /** Octets of header in all, the message's and its parts'. */
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
