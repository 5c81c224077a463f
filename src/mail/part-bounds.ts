// Where the parts of a message are, which is what sections are found by: a small part of its MIME index, and as a text a fraction
// of it.

export interface PartBounds {
  /** `multipart` and `message` are told from all others. */
  readonly type: string;
  readonly headerStart: number;
  readonly bodyStart: number;
  /** Exclusive. */
  readonly bodyEnd: number;
  readonly parts: readonly PartBounds[];
}

/** As JSON, without names. The limits of the index bound how deep it is. */
type Written = [headerStart: number, bodyStart: number, bodyEnd: number, type?: string, parts?: Written[]];

const NONE: readonly PartBounds[] = [];

export function writePartBounds(root: PartBounds): string {
  return JSON.stringify(written(root));
}

/** What `writePartBounds` has written; the type of a part without parts is lost unless it is one that is told from others. */
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
