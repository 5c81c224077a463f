// What a script is run on: the facts of a message, as the caller has read them.
export interface SieveField {
  readonly name: string;
  /** Unfolded and trimmed; encoded words (RFC 2047) are as written. */
  readonly value: string;
}

/** One part of a body that is not a multipart. */
export interface SievePart {
  /** `type/subtype` in lower case. */
  readonly type: string;
  /** Decoded; UTF-8 text of the charset that the part declares. */
  readonly text: () => string;
}

export interface SieveBody {
  /** The octets behind the header, without decoding, one character per octet or UTF-8. */
  readonly raw: () => string;
  readonly parts: readonly SievePart[];
  /** The text of the body for people: plain text, or HTML without its tags. */
  readonly text: () => string;
}

export interface SieveMessage {
  /** In octets. */
  readonly size: number;
  /** In the order of the header. */
  readonly fields: readonly SieveField[];
  /** False when the header is longer than what was read of it: scripts then do not edit it. */
  readonly isHeaderWhole: boolean;
  /** Undefined when it was not read: tests of it are then faults. */
  readonly body: SieveBody | undefined;
}
