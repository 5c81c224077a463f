// BODY[…], RFC822, RFC822.HEADER and RFC822.TEXT (RFC 9051 §6.4.5): octets as they were received, except for NUL. A section that
// the message does not have is empty, as in Dovecot.
import { FieldNames, headerFields, partOfRange, sectionRange } from '../../../mail-format/body-section.js';
import type { OctetRange } from '../../../mail-format/message-index.js';
import type { BlobStore } from '../../../store/blobs.js';
import { MOST_HEADER_OCTETS } from '../../../store/folder-messages.js';
import type { PartialRange, Section } from '../grammar/section.js';
import type { Message } from '../messages/message-source.js';
import { astring } from '../wire/format.js';
import {
  boundsOf,
  type MessageItem,
  type NeedsBuilder,
  PART_BOUNDS,
  type Piece,
  type Place,
  type Rendered,
} from './fetch-item.js';
import { octetsOfRange, wholeRange } from './message-octets.js';
import { shownText } from './shown-octets.js';

/** Octets of a header that are searched for fields. */
const FIRST: PartialRange = { offset: 0, length: 1024 * 1024 };

/** The value of a section that the message does not have. */
export const NOTHING = '{0}\r\n';

export interface SectionWanted {
  readonly section: Section;
  readonly partial: PartialRange | undefined;
}

/** `label` is the name of the attribute in the response. */
export function sectionItem(
  blobs: BlobStore,
  { section, partial }: SectionWanted,
  label: string,
  needs: NeedsBuilder,
): MessageItem {
  const isOfHeader = section.part.length === 0 && section.text?.startsWith('HEADER') === true;
  if (isOfHeader) {
    needs.need('header');
    return headerItem(blobs, section, partial, label);
  }
  needs.octets = true;
  if (section.part.length === 0 && section.text === null) {
    return (place, message) => {
      const range = within({ start: 0, end: message.size }, partial);
      return withLength(label, range, octetsOfRange(blobs, place, message, range));
    };
  }
  needs.need('index', PART_BOUNDS);
  const fields = fieldsOf(section);
  return (place, message) => {
    const range = sectionRange(boundsOf(place, message), section);
    if (range === undefined) return `${label} ${NOTHING}`;
    if (fields !== undefined) return fieldsOfRange(blobs, place, message, range, fields, partial, label);
    const wanted = within(range, partial);
    return withLength(label, wanted, octetsOfRange(blobs, place, message, wanted));
  };
}

/** Returns a label such as `BODY[1.2.HEADER.FIELDS (From)]<0>`. */
export function sectionLabel({ section, partial }: SectionWanted): string {
  const names = section.fields.length === 0 ? '' : ` (${section.fields.map((name) => astring(name)).join(' ')})`;
  const text = section.text === null ? [] : [`${section.text}${names}`];
  return `BODY[${[...section.part, ...text].join('.')}]${origin(partial)}`;
}

/** Returns `<0>`: where the octets of a partial begin. */
export function origin(partial: PartialRange | undefined): string {
  return partial === undefined ? '' : `<${partial.offset}>`;
}

export function within(range: OctetRange, partial: PartialRange | undefined): OctetRange {
  return partial === undefined ? range : partOfRange(range, partial.offset, partial.length);
}

/** Renders from the message's own header, which is in memory unless it is very long. */
function headerItem(blobs: BlobStore, section: Section, partial: PartialRange | undefined, label: string): MessageItem {
  const fields = fieldsOf(section);
  const textOf = (header: Buffer) => {
    const text = fields === undefined ? header.toString('latin1') : headerFields(header, fields.names, fields.areNamed);
    return literalOf(label, text, partial);
  };
  return (place, message) => {
    const { header } = message;
    if (header.length < MOST_HEADER_OCTETS) return textOf(header);
    return longHeader(blobs, message).then(async (range) => {
      if (fields !== undefined) return textOf(asBuffer(await blobs.read(message.blob, 0, within(range, FIRST).end)));
      const wanted = within(range, partial);
      return withLength(label, wanted, octetsOfRange(blobs, place, message, wanted));
    });
  };
}

async function longHeader(blobs: BlobStore, { blob }: Message): Promise<OctetRange> {
  const index = await blobs.index(blob);
  return { start: 0, end: index?.root.bodyStart ?? 0 };
}

interface WantedFields {
  readonly names: FieldNames;
  readonly areNamed: boolean;
}

function fieldsOf({ text, fields }: Section): WantedFields | undefined {
  if (text !== 'HEADER.FIELDS' && text !== 'HEADER.FIELDS.NOT') return undefined;
  return { names: new FieldNames(fields), areNamed: text === 'HEADER.FIELDS' };
}

/** Reads fields from the header of an embedded message. */
async function fieldsOfRange(
  blobs: BlobStore,
  place: Place,
  message: Message,
  range: OctetRange,
  { names, areNamed }: WantedFields,
  partial: PartialRange | undefined,
  label: string,
): Promise<Rendered> {
  const header = asBuffer(await wholeRange(blobs, place, message, within(range, FIRST)));
  return literalOf(label, headerFields(header, names, areNamed), partial);
}

function literalOf(label: string, octets: string, partial: PartialRange | undefined): string {
  const wanted = partial === undefined ? octets : octets.slice(partial.offset, partial.offset + partial.length);
  const text = shownText(wanted);
  return `${label} {${text.length}}\r\n${text}`;
}

function withLength(label: string, range: OctetRange, piece: Piece | Promise<Piece>): Rendered | Promise<Rendered> {
  const head = `${label} {${range.end - range.start}}\r\n`;
  return piece instanceof Promise ? piece.then((read) => [head, read]) : [head, piece];
}

function asBuffer(octets: Uint8Array): Buffer {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
}
