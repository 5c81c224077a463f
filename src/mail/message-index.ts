// The MIME index of a message, made by one pass over its octets so that no other code parses them again: the envelope, the
// part tree with octet offsets (enough for BODYSTRUCTURE, RFC 9051), the choice of bodies and attachments, and a preview. The
// index is stored as JSON beside the blob, so every value is plain JSON; `version` rises when the shape or the meaning of an
// offset changes.

/** A mailbox of an address header field (RFC 5322 §3.4), decoded (RFC 2047). */
export interface IndexedAddress {
  /** Display name, decoded; empty when there is none. */
  readonly name: string;
  /** `local@domain` as written, trimmed; empty for a group's own entry. */
  readonly address: string;
}

/** RFC 5322 originator and destination fields of one header, decoded and capped. */
export interface IndexedEnvelope {
  /** The `Date` field as written, unfolded; null when missing. */
  readonly date: string | null;
  /** The `Date` field in ms since the epoch; null when missing or not a date. */
  readonly sentAt: number | null;
  readonly subject: string;
  readonly from: readonly IndexedAddress[];
  readonly sender: readonly IndexedAddress[];
  readonly replyTo: readonly IndexedAddress[];
  readonly to: readonly IndexedAddress[];
  readonly cc: readonly IndexedAddress[];
  readonly bcc: readonly IndexedAddress[];
  /** With angle brackets, as RFC 5322 §3.6.4 has it; null when missing or unusable. */
  readonly messageId: string | null;
  /** First msg-id of In-Reply-To, with angle brackets. */
  readonly inReplyTo: string | null;
  /** Every msg-id of References in order, with angle brackets; at most 100 (the first and the last 99). */
  readonly references: readonly string[];
}

/** One body part. Offsets are octets from the first byte of the message; an end is exclusive. */
export interface IndexedPart {
  /** IMAP section number: `1`, `1.2`, …; empty string for a multipart root. */
  readonly section: string;
  /** Lower case, for example `text` and `plain`. */
  readonly type: string;
  readonly subtype: string;
  /** Content-Type parameters, names in lower case, values decoded (RFC 2231). */
  readonly params: Readonly<Record<string, string>>;
  readonly id: string | null;
  readonly description: string | null;
  /** Content-Transfer-Encoding in lower case; `7bit` when missing. */
  readonly encoding: string;
  /** Content-Disposition type in lower case. */
  readonly disposition: string | null;
  readonly dispositionParams: Readonly<Record<string, string>>;
  readonly language: readonly string[];
  readonly location: string | null;
  /** Content-MD5 (RFC 1864), where there is one. */
  readonly md5?: string;
  /** First octet of the part's header, equal to `bodyStart` where a part has none. */
  readonly headerStart: number;
  readonly bodyStart: number;
  /** Excludes the line break that belongs to the next boundary (RFC 2046 §5.1.1). */
  readonly bodyEnd: number;
  /** Line feeds in the body: BODYSTRUCTURE's line count of text and message parts. */
  readonly lines: number;
  /** Children of a multipart; the one embedded message's root of a message/rfc822. */
  readonly parts: readonly IndexedPart[];
  /** Of a message/rfc822 part. */
  readonly envelope: IndexedEnvelope | null;
  /** The texts in a TNEF. */
  readonly enclosed?: readonly EnclosedText[];
}

/** A text within a part that packs several things. */
export interface EnclosedText {
  /** Names it among the texts of a body: `2/plain`. */
  readonly section: string;
  /** `rtf`: compressed RTF. */
  readonly subtype: 'plain' | 'html' | 'rtf';
  readonly params: Readonly<Record<string, string>>;
  /** Octets of the part's content, its transfer encoding undone. */
  readonly within: OctetRange;
}

/** A part that REST shows as an attachment, or a file in one. */
export interface IndexedAttachment {
  /** The number of the part; a file in it adds its own number: `2/1`. */
  readonly section: string;
  /** Where a file is in the part: octets of the part's content, its transfer encoding undone. */
  readonly within?: OctetRange;
  /** Decoded file name, never empty, without path separators or control characters. */
  readonly fileName: string;
  /** `type/subtype`, lower case, safe to send as a Content-Type. */
  readonly contentType: string;
  /** Octets after decoding; exact for every encoding. */
  readonly size: number;
  /** Lower case, of text that declares one. */
  readonly charset?: string;
  /** Upper case, of text/calendar: `REQUEST`, `REPLY` … */
  readonly method?: string;
  /** Content-ID without angle brackets, null when none. */
  readonly contentId: string | null;
  readonly inline: boolean;
}

/** Octets [start, end) of a message. */
export interface OctetRange {
  readonly start: number;
  readonly end: number;
}

export interface MessageIndex {
  readonly version: 1;
  /** Octets of the whole message. */
  readonly size: number;
  readonly envelope: IndexedEnvelope;
  readonly root: IndexedPart;
  /** Sections of the parts that make up the text body, in order; html likewise. */
  readonly textSections: readonly string[];
  readonly htmlSections: readonly string[];
  readonly attachments: readonly IndexedAttachment[];
  /** At most 200 characters of the text (or of the html without its tags), white space folded. */
  readonly preview: string;
  /** How many `Received` fields the message header has (RFC 5321 §6.3 loops). */
  readonly receivedCount: number;
  /** Addresses of the message header's `Delivered-To` fields, lower case; at most 100. */
  readonly deliveredTo: readonly string[];
  /** Limits that were hit: what lies beyond is in the blob but not in the index. Empty for a whole index. */
  readonly truncated: readonly ('header' | 'parts' | 'depth' | 'addresses')[];
}
