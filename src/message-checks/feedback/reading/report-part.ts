// Tells by the MIME index whether a message may be a feedback report, and which part of it is the report: RFC 7489 §7.2.1.1 and RFC 8460
// §5.3 name the file and the types, and senders take liberties with both.
import type { IndexedPart, MessageIndex } from '../../../mail-format/message-index.js';

/** The parts that are looked at. */
const MOST_PARTS = 20;
/** Octets of the part in its transfer encoding. */
const LARGEST_PART = 16 * 1024 * 1024;

const TLS_TYPES = /^application\/tlsrpt\+(?:gzip|json)$/;
const PACKED_TYPES =
  /^(?:application\/(?:x-)?(?:gzip|zip)|application\/(?:x-gzip-compressed|x-zip-compressed|zip-compressed|octet-stream|xml|json)|text\/xml)$/;
/** `receiver!domain!begin!end[!id].xml.gz` */
const FILE_NAME = /^[^!]+![^!]+!\d+!\d+(?:![^!]+)?\.(?:xml|json|zip|gz|xml\.gz|json\.gz|xml\.zip)$/i;
const SUBJECT = /^\s*report[ -]domain:/i;

/** Returns the part with the report; undefined when the message looks like none. `isPostmaster`: it is written to a postmaster. */
export function reportPart(index: MessageIndex, isPostmaster: boolean): IndexedPart | undefined {
  const parts = leaves(index.root).filter(({ bodyStart, bodyEnd }) => bodyEnd - bodyStart <= LARGEST_PART);
  const isNamed = isPostmaster || SUBJECT.test(index.envelope.subject);
  return (
    parts.find((part) => TLS_TYPES.test(typeOf(part))) ??
    parts.find((part) => PACKED_TYPES.test(typeOf(part)) && FILE_NAME.test(nameOf(part))) ??
    (isNamed ? parts.find((part) => PACKED_TYPES.test(typeOf(part))) : undefined)
  );
}

function leaves(root: IndexedPart): readonly IndexedPart[] {
  const found: IndexedPart[] = [];
  const open = [root];
  for (let part = open.pop(); part !== undefined && found.length < MOST_PARTS; part = open.pop()) {
    if (part.type === 'multipart') open.push(...part.parts.slice(0, MOST_PARTS).reverse());
    else found.push(part);
  }
  return found;
}

const typeOf = ({ type, subtype }: IndexedPart) => `${type}/${subtype}`;

const nameOf = ({ dispositionParams, params }: IndexedPart) =>
  (dispositionParams['filename'] ?? params['name'] ?? '').trim();
