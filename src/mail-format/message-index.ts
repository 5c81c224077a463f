// The MIME index of a message, made in one pass over its octets so that no other code parses them again: the envelope, the part tree with
// octet offsets (enough for BODYSTRUCTURE, RFC 9051), the choice of bodies and attachments, and a preview. The index is stored as JSON next
// to the blob, so every value is plain JSON; `version` increases when the shape or the meaning of an offset changes.

/** A mailbox of an address header field (RFC 5322 §3.4), decoded (RFC 2047). */
export interface IndexedAddress {
  /** The display name, decoded; empty when there is none. */
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
  /** The id has angle brackets (RFC 5322 §3.6.4); null when missing or unusable. */
  readonly messageId: string | null;
  /** The first msg-id of In-Reply-To, with angle brackets. */
  readonly inReplyTo: string | null;
  /** Every msg-id of References in order, with angle brackets; at most 100 (the first and the last 99). */
  readonly references: readonly string[];
}

/** One body part. Offsets are in octets from the start of the message; an end is exclusive. */
export interface IndexedPart {
  /** IMAP section number: `1`, `1.2`, …; empty string for a multipart root. */
  readonly section: string;
  /** In lower case, for example `text` and `plain`. */
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
  /** Content-MD5 (RFC 1864), when it is present. */
  readonly md5?: string;
  /** The first octet of the part's header; equal to `bodyStart` when the part has no header. */
  readonly headerStart: number;
  readonly bodyStart: number;
  /** Excludes the line break that belongs to the next boundary (RFC 2046 §5.1.1). */
  readonly bodyEnd: number;
  /** The number of line feeds in the body: BODYSTRUCTURE's line count of text and message parts. */
  readonly lines: number;
  /** The children of a multipart, or the root of the message in a message/rfc822. */
  readonly parts: readonly IndexedPart[];
  /** The envelope of the embedded message; null when the part is not a message/rfc822. */
  readonly envelope: IndexedEnvelope | null;
  /** The texts in a TNEF. */
  readonly enclosed?: readonly EnclosedText[];
}

/** A text within a part that contains several things. */
export interface EnclosedText {
  /** The name of the text among the texts of a body: `2/plain`. */
  readonly section: string;
  /** `rtf` is compressed RTF. */
  readonly subtype: 'plain' | 'html' | 'rtf';
  readonly params: Readonly<Record<string, string>>;
  /** The octets of the part's content, without its transfer encoding. */
  readonly within: OctetRange;
}

/** A part that REST shows as an attachment, or a file within such a part. */
export interface IndexedAttachment {
  /** The number of the part; a file in it adds its own number: `2/1`. */
  readonly section: string;
  /** The position of the file within the part's content, without its transfer encoding. */
  readonly within?: OctetRange;
  /** Decoded file name, never empty, without path separators or control characters. */
  readonly fileName: string;
  /** `type/subtype`, lower case, safe to send as a Content-Type. */
  readonly contentType: string;
  /** The number of octets after decoding; exact for every encoding. */
  readonly size: number;
  /** The charset in lower case; present for text that declares one. */
  readonly charset?: string;
  /** The method of text/calendar in upper case: `REQUEST`, `REPLY` … */
  readonly method?: string;
  /** Content-ID without angle brackets; null when there is none. */
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
  /** The octets of the whole message. */
  readonly size: number;
  readonly envelope: IndexedEnvelope;
  readonly root: IndexedPart;
  /** The sections of the parts that make up the text body, in order; `htmlSections` has those of the HTML body. */
  readonly textSections: readonly string[];
  readonly htmlSections: readonly string[];
  readonly attachments: readonly IndexedAttachment[];
  /** The preview has at most 200 characters of the text (or of the html without its tags), with white space folded. */
  readonly preview: string;
  /** The number of `Received` fields in the message header (RFC 5321 §6.3 loops). */
  readonly receivedCount: number;
  /** The addresses of the message header's `Delivered-To` fields, in lower case; at most 100. */
  readonly deliveredTo: readonly string[];
  /** The limits that were reached: what lies beyond them is in the blob but not in the index. Empty for a complete index. */
  readonly truncated: readonly ('header' | 'parts' | 'depth' | 'addresses')[];
}
