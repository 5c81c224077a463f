// The positions of a message's parts, by which sections are found: a small part of its MIME index, and much shorter as text.

export interface PartBounds {
  /** Only `multipart` and `message` are distinguished from the others. */
  readonly type: string;
  readonly headerStart: number;
  readonly bodyStart: number;
  /** Exclusive. */
  readonly bodyEnd: number;
  readonly parts: readonly PartBounds[];
}

/** A part in the JSON text, without names. The limits of the index limit the depth. */
type Written = [headerStart: number, bodyStart: number, bodyEnd: number, type?: string, parts?: Written[]];

const NONE: readonly PartBounds[] = [];

export function writePartBounds(root: PartBounds): string {
  return JSON.stringify(written(root));
}

/** Reads what `writePartBounds` wrote; the types of parts other than multiparts and messages are lost. */
export function readPartBounds(text: string): PartBounds {
  return read(JSON.parse(text) as Written);
}

function written({ type, headerStart, bodyStart, bodyEnd, parts }: PartBounds): Written {
  if (type !== 'multipart' && type !== 'message') return [headerStart, bodyStart, bodyEnd];
  return [headerStart, bodyStart, bodyEnd, type, parts.map(written)];
}

function read([headerStart, bodyStart, bodyEnd, type = '', parts]: Written): PartBounds {
  return { type, headerStart, bodyStart, bodyEnd, parts: parts?.map(read) ?? NONE };
}
