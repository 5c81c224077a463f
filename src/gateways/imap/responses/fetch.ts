// The attributes of FETCH as items of its response (RFC 9051 §7.5.2): each is prepared once per command and rendered for each
// message. Immutable data comes from the message, flags and modseqs from the mirror.
import { decodeTransfer, isEncoded } from '../../../mail-format/decode/transfer.js';
import { headerIn } from '../../../mail-format/header/header-lines.js';
import type { IndexedPart, OctetRange } from '../../../mail-format/message-index.js';
import type { BlobStore } from '../../../store/blobs.js';
import type { FetchAttribute } from '../grammar/fetch.js';
import type { Message, MessageNeeds } from '../messages/message-source.js';
import type { FolderMirror } from '../view/folder-mirror.js';
import { internalDate, nstring } from '../wire/format.js';
import { binaryItem, binarySizeItem, type UnknownEncodings } from './binary-sections.js';
import { sectionItem, sectionLabel } from './body-sections.js';
import { bodyStructureOf, embeddedMessages } from './body-structure.js';
import { envelopeOf } from './envelope.js';
import { type MessageItem, type MirrorItem, NeedsBuilder, type Place, rootOf } from './fetch-item.js';
import { flagList } from './flags.js';

const WHOLE = { part: [], text: null, fields: [] } as const;
const HEADER = { part: [], text: 'HEADER', fields: [] } as const;
const TEXT = { part: [], text: 'TEXT', fields: [] } as const;
/** Octets of the header of an embedded message that are read for its envelope. */
const EMBEDDED_HEADER_OCTETS = 64 * 1024;
/** Attributes that need no facts of a message once their texts exist. */
const FACTLESS: ReadonlySet<FetchAttribute['type']> = new Set([
  'UID',
  'FLAGS',
  'MODSEQ',
  'ENVELOPE',
  'BODY',
  'BODYSTRUCTURE',
]);

export interface FetchItems {
  readonly items: readonly MessageItem[];
  /** The items, if the mirror knows all of them. */
  readonly mirrorItems: readonly MirrorItem[] | undefined;
  readonly needs: MessageNeeds;
  readonly needsOctets: boolean;
  readonly encodings: UnknownEncodings;
}

export function fetchItems(attributes: readonly FetchAttribute[], mirror: FolderMirror, blobs: BlobStore): FetchItems {
  const needs = new NeedsBuilder();
  const encodings: UnknownEncodings = { hasUnknownEncoding: false };
  const items = attributes.map(
    (attribute) => mirrorItem(attribute, mirror) ?? messageItem(attribute, blobs, needs, encodings),
  );
  const mirrorItems = attributes.map((attribute) => mirrorItem(attribute, mirror));
  return {
    items,
    mirrorItems: mirrorItems.every((item) => item !== undefined) ? (mirrorItems as MirrorItem[]) : undefined,
    needs: { facts: !attributes.every(({ type }) => FACTLESS.has(type)), header: needs.header, index: needs.index },
    needsOctets: needs.octets,
    encodings,
  };
}

function mirrorItem(attribute: FetchAttribute, mirror: FolderMirror): MirrorItem | undefined {
  switch (attribute.type) {
    case 'UID':
      return ({ uid }) => `UID ${uid}`;
    case 'FLAGS':
      return ({ index }) => `FLAGS ${flagList(mirror, index)}`;
    case 'MODSEQ':
      return ({ index }) => `MODSEQ (${mirror.modseqAt(index)})`;
    default:
      return undefined;
  }
}

function messageItem(
  attribute: FetchAttribute,
  blobs: BlobStore,
  needs: NeedsBuilder,
  encodings: UnknownEncodings,
): MessageItem {
  switch (attribute.type) {
    case 'INTERNALDATE':
      return (_, message) => `INTERNALDATE ${internalDate(message.receivedAt)}`;
    case 'RFC822.SIZE':
      return (_, message) => `RFC822.SIZE ${message.size}`;
    case 'EMAILID':
      return (_, message) => `EMAILID (${message.emailId})`;
    case 'THREADID':
      return (_, message) => `THREADID (${message.threadId})`;
    case 'SAVEDATE':
      return (_, message) => `SAVEDATE ${internalDate(message.savedAt)}`;
    // Every preview is stored, so LAZY makes no difference.
    case 'PREVIEW':
      return (_, message) => `PREVIEW ${nstring(message.preview)}`;
    case 'ENVELOPE':
      needs.need('header', 'envelope');
      return (_, message) => `ENVELOPE ${message.derived('envelope', () => envelopeOf(message.header))}`;
    case 'BODY':
      return structureItem(blobs, 'BODY', needs);
    case 'BODYSTRUCTURE':
      return structureItem(blobs, 'BODYSTRUCTURE', needs);
    case 'RFC822':
      return sectionItem(blobs, { section: WHOLE, partial: undefined }, 'RFC822', needs);
    case 'RFC822.HEADER':
      return sectionItem(blobs, { section: HEADER, partial: undefined }, 'RFC822.HEADER', needs);
    case 'RFC822.TEXT':
      return sectionItem(blobs, { section: TEXT, partial: undefined }, 'RFC822.TEXT', needs);
    case 'BODY[]':
      return sectionItem(blobs, attribute, sectionLabel(attribute), needs);
    case 'BINARY[]':
      return binaryItem(blobs, attribute, encodings, needs);
    case 'BINARY.SIZE':
      return binarySizeItem(blobs, attribute.part, encodings, needs);
    default:
      throw new Error(`the mirror knows ${attribute.type}`);
  }
}

/** Thrown when the structure needs envelopes of embedded messages, which must be read from the blob. */
class EnvelopesMissing extends Error {
  readonly root: IndexedPart;

  constructor(root: IndexedPart) {
    super('the envelopes of embedded messages were not read');
    this.root = root;
  }
}

function structureItem(blobs: BlobStore, name: 'BODY' | 'BODYSTRUCTURE', needs: NeedsBuilder): MessageItem {
  needs.need('index', name);
  const isExtended = name === 'BODYSTRUCTURE';
  const make = (place: Place, message: Message, envelopes: ReadonlyMap<IndexedPart, string> | undefined): string =>
    message.derived(name, () => {
      const root = rootOf(place, message);
      if (envelopes === undefined && embeddedMessages(root).length > 0) throw new EnvelopesMissing(root);
      return bodyStructureOf(root, envelopes ?? new Map(), isExtended);
    });
  return (place, message) => {
    try {
      return `${name} ${make(place, message, undefined)}`;
    } catch (error) {
      if (!(error instanceof EnvelopesMissing)) throw error;
      return envelopesOf(blobs, message, error.root).then((read) => `${name} ${make(place, message, read)}`);
    }
  };
}

async function envelopesOf(
  blobs: BlobStore,
  { blob }: Message,
  root: IndexedPart,
): Promise<ReadonlyMap<IndexedPart, string>> {
  const messages = embeddedMessages(root);
  const octets = await blobs.readRanges(
    blob,
    messages.map((message) => {
      const { start, end } = headerRange(message);
      return { start, end: Math.min(end, start + EMBEDDED_HEADER_OCTETS) };
    }),
  );
  return new Map(messages.map((message, i) => [message, envelopeOf(headerOf(message, octets[i]!))]));
}

/** The header of a base64-encoded message is part of the encoded octets. */
const headerRange = (message: IndexedPart): OctetRange =>
  isEncoded(message.encoding) && message.headerStart === message.bodyStart
    ? { start: message.bodyStart, end: message.bodyEnd }
    : { start: message.headerStart, end: message.bodyStart };

function headerOf(message: IndexedPart, octets: Uint8Array): Buffer {
  if (message.headerStart !== message.bodyStart) return Buffer.from(octets);
  return headerIn(Buffer.from(decodeTransfer(message.encoding, octets)));
}
