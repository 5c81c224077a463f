// BINARY[…] and BINARY.SIZE[…] (RFC 9051 §6.4.5): a part without its transfer encoding. Large parts are decoded while they
// are written, after a first pass that counts their octets. A part without its own encoding, such as a multipart, is sent
// unchanged.
import { partNumbered } from '../../../mail-format/body-section.js';
import { decodeStream, decodeTransfer, isEncoded, sliceStream } from '../../../mail-format/decode/transfer.js';
import type { IndexedPart, OctetRange } from '../../../mail-format/message-index.js';
import { primed } from '../../../net/tcp/primed-stream.js';
import type { BlobStore } from '../../../store/blobs.js';
import type { PartialRange } from '../grammar/section.js';
import type { Message } from '../messages/message-source.js';
import { NOTHING, origin, within } from './body-sections.js';
import { type MessageItem, type NeedsBuilder, type Place, type Rendered, rootOf } from './fetch-item.js';
import { mayBuffer, SMALL_OCTETS, wholeRange } from './message-octets.js';

const IDENTITY = new Set(['7bit', '8bit', 'binary']);

/** What is shown for a part that does not exist, and for one whose encoding is unknown. */
interface Missing {
  readonly none: string;
  readonly unknown: string;
}

/** NIL for an unknown encoding, because a client would keep empty octets as those of the part. */
const NO_OCTETS: Missing = { none: NOTHING, unknown: 'NIL' };
const NO_SIZE: Missing = { none: '0', unknown: '0' };

export interface BinaryWanted {
  readonly part: readonly number[];
  readonly partial: PartialRange | undefined;
}

/** Shared by the items of one command. */
export interface UnknownEncodings {
  /** Whether a part was not shown because its encoding is unknown; the command must fail then. */
  hasUnknownEncoding: boolean;
}

export function binaryItem(
  blobs: BlobStore,
  { part: numbers, partial }: BinaryWanted,
  found: UnknownEncodings,
  needs: NeedsBuilder,
): MessageItem {
  const label = `BINARY[${numbers.join('.')}]${origin(partial)}`;
  return ofPart(numbers, label, NO_OCTETS, found, needs, async (place, message, range, encoding) => {
    const isInMemory = mayBuffer(place, Math.min(range.end - range.start, SMALL_OCTETS));
    if (isInMemory && range.end - range.start <= SMALL_OCTETS) {
      const decoded = decodeTransfer(encoding, await wholeRange(blobs, place, message, range));
      const wanted = within({ start: 0, end: decoded.length }, partial);
      const octets = decoded.subarray(wanted.start, wanted.end);
      return [`${label} ${octets.includes(0) ? '~' : ''}{${octets.length}}\r\n`, octets];
    }
    // The stream was not scanned for NUL, so it is sent as a literal8, which may contain one.
    const size = await decodedSize(blobs, message, range, encoding);
    const wanted = within({ start: 0, end: size }, partial);
    const decoded = sliceStream(decodeStream(encoding, blobs.stream(message.blob, range.start, range.end)), wanted);
    return [`${label} ~{${wanted.end - wanted.start}}\r\n`, isInMemory ? await primed(decoded) : decoded];
  });
}

export function binarySizeItem(
  blobs: BlobStore,
  numbers: readonly number[],
  found: UnknownEncodings,
  needs: NeedsBuilder,
): MessageItem {
  const label = `BINARY.SIZE[${numbers.join('.')}]`;
  return ofPart(numbers, label, NO_SIZE, found, needs, async (place, message, range, encoding) => {
    const size =
      place.octets === undefined
        ? await decodedSize(blobs, message, range, encoding)
        : decodeTransfer(encoding, place.octets.subarray(range.start, range.end)).length;
    return `${label} ${size}`;
  });
}

function ofPart(
  numbers: readonly number[],
  label: string,
  { none, unknown }: Missing,
  found: UnknownEncodings,
  needs: NeedsBuilder,
  render: (place: Place, message: Message, range: OctetRange, encoding: string) => Promise<Rendered>,
): MessageItem {
  needs.need('index');
  needs.octets = true;
  return (place, message) => {
    const part = partNumbered(rootOf(place, message), numbers);
    if (part === undefined) return `${label} ${none}`;
    const encoding = encodingOf(part, numbers);
    if (encoding === undefined) {
      found.hasUnknownEncoding = true;
      return `${label} ${unknown}`;
    }
    const start = numbers.length === 0 ? part.headerStart : part.bodyStart;
    return render(place, message, { start, end: part.bodyEnd }, encoding);
  };
}

/** Returns undefined for an unknown encoding. The whole message has none, and the parts of a part have their own. */
function encodingOf({ type, parts, encoding }: IndexedPart, numbers: readonly number[]): string | undefined {
  if (numbers.length === 0 || type === 'multipart' || IDENTITY.has(encoding)) return 'binary';
  if (isEncoded(encoding)) return encoding;
  return parts.length > 0 ? 'binary' : undefined;
}

async function decodedSize(
  blobs: BlobStore,
  { blob }: Message,
  { start, end }: OctetRange,
  encoding: string,
): Promise<number> {
  if (!isEncoded(encoding)) return end - start;
  let size = 0;
  for await (const piece of decodeStream(encoding, blobs.stream(blob, start, end))) size += piece.length;
  return size;
}
