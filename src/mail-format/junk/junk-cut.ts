// The octets of a message that the junk filter looks at: the start of the header and of the first texts. The bounds keep a verdict short,
// and a long message costs no more than a short one.
import type { IndexedPart, MessageIndex, OctetRange } from '../message-index.js';

const HEADER_OCTETS = 8 * 1024;
/** The octets of each text. Base64 and markup need more room than words. */
const PLAIN_OCTETS = 3 * 1024;
const HTML_OCTETS = 6 * 1024;
const MOST_TEXTS = 2;

/** A text, and where its octets are. */
interface CutText {
  readonly part: Pick<IndexedPart, 'subtype' | 'encoding'>;
  readonly range: OctetRange;
}

/** The parts ascend and do not overlap. */
export interface JunkCut {
  readonly header: OctetRange;
  readonly texts: readonly CutText[];
}

export function junkCut({ root, textSections, htmlSections }: MessageIndex): JunkCut {
  const wanted = new Set([...textSections.slice(0, 1), ...htmlSections.slice(0, 1)]);
  const texts: CutText[] = [];
  collect(root, wanted, texts);
  return { header: { start: 0, end: Math.min(root.bodyStart, HEADER_OCTETS) }, texts };
}

/** The ranges of a cut in their order, to be read. */
export const rangesOf = ({ header, texts }: JunkCut): readonly OctetRange[] => [
  header,
  ...texts.map(({ range }) => range),
];

function collect(part: IndexedPart, wanted: ReadonlySet<string>, texts: CutText[]): void {
  if (texts.length === MOST_TEXTS) return;
  if (wanted.has(part.section)) texts.push(textOf(part));
  // A text of a multipart without parts has the section of its root.
  else for (const child of part.parts) collect(child, wanted, texts);
}

function textOf(part: IndexedPart): CutText {
  const octets = part.subtype === 'html' ? HTML_OCTETS : PLAIN_OCTETS;
  const most = part.encoding === 'base64' ? Math.ceil(octets / 3) * 4 : octets;
  return { part, range: { start: part.bodyStart, end: Math.min(part.bodyEnd, part.bodyStart + most) } };
}
