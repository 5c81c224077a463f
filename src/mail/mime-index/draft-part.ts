// A part while it is being read: what its header said, where it lies, and what is measured of its body on the way.
// `finish` makes the stored part of it and gives the section numbers (RFC 9051 §6.4.5), which hang on the tree.
import { Base64Counter } from '../decode/base64.js';
import { QuotedPrintableDecoder } from '../decode/quoted-printable.js';
import type { IndexedEnvelope, IndexedPart } from '../message-index.js';
import type { BodySample } from './body-sample.js';
import type { ContentFields } from './content-fields.js';

export class DraftPart {
  readonly headerStart: number;
  readonly parent: DraftPart | undefined;
  /** The first part of its parent. */
  readonly isFirst: boolean;
  /** Within a message/rfc822 part: neither a body nor an attachment of the message itself. */
  readonly isEmbedded: boolean;
  readonly parts: DraftPart[] = [];
  content: ContentFields | undefined;
  boundary: string | undefined;
  boundaryIsOpen = false;
  envelope: IndexedEnvelope | undefined;
  bodyStart = 0;
  bodyEnd = 0;
  /** Line feeds of the message before the body. */
  linesBefore = 0;
  lines = 0;
  size: BodySize | undefined;
  sample: BodySample | undefined;

  constructor(headerStart: number, parent: DraftPart | undefined) {
    this.headerStart = headerStart;
    this.parent = parent;
    this.isFirst = parent === undefined || parent.parts.length === 0;
    this.isEmbedded = parent !== undefined && (parent.isEmbedded || parent.boundary === undefined);
  }

  get isMultipart(): boolean {
    return this.boundary !== undefined && this.parts.length > 0;
  }

  get isDigest(): boolean {
    return this.boundary !== undefined && this.content?.subtype === 'digest';
  }
}

/** Decoded octets of a body whose encoding changes its length. */
export class BodySize {
  readonly #base64: Base64Counter | undefined;
  readonly #quoted: QuotedPrintableDecoder | undefined;
  #octets = 0;

  static of(encoding: string): BodySize | undefined {
    return encoding === 'base64' || encoding === 'quoted-printable' ? new BodySize(encoding) : undefined;
  }

  constructor(encoding: 'base64' | 'quoted-printable') {
    if (encoding === 'base64') this.#base64 = new Base64Counter();
    else this.#quoted = new QuotedPrintableDecoder();
  }

  /** Returns how many line feeds were in [from, to), which base64 counts on the way; undefined if not counted. */
  push(data: Buffer, from: number, to: number): number | undefined {
    if (this.#base64 !== undefined) return this.#base64.push(data, from, to);
    this.#octets += this.#quoted!.push(data.subarray(from, to)).length;
    return undefined;
  }

  finish(): number {
    if (this.#base64 !== undefined) return this.#base64.size;
    return this.#octets + this.#quoted!.finish().length;
  }
}

/** Parts with their drafts, for what the drafts know and the index does not keep. */
export type Finished = Map<IndexedPart, DraftPart>;

export function finishTree(root: DraftPart, finished: Finished): IndexedPart {
  return finish(root, root.isMultipart ? '' : '1', '', finished);
}

/** Depth is bounded by the limits, so recursion is. */
function finish(draft: DraftPart, section: string, prefix: string, finished: Finished): IndexedPart {
  const content = draft.content!;
  const parts: IndexedPart[] = [];
  if (draft.isMultipart) {
    const childPrefix = section === '' ? prefix : `${section}.`;
    for (const [i, child] of draft.parts.entries()) parts.push(finish(child, `${childPrefix}${i + 1}`, '', finished));
  } else {
    for (const root of draft.parts) {
      // The root of an embedded multipart has no number of its own; its parts count on from the message's.
      parts.push(finish(root, root.isMultipart ? '' : `${section}.1`, `${section}.`, finished));
    }
  }
  const part: IndexedPart = {
    section,
    ...(content.type === 'multipart' && !draft.isMultipart ? asText(content) : content),
    headerStart: draft.headerStart,
    bodyStart: draft.bodyStart,
    bodyEnd: draft.bodyEnd,
    lines: draft.lines,
    parts,
    envelope: draft.envelope ?? null,
  };
  finished.set(part, draft);
  return part;
}

/** A multipart that has no parts is the text it consists of. */
export function asText(content: ContentFields): ContentFields {
  return { ...content, type: 'text', subtype: 'plain', params: {}, encoding: '7bit' };
}
