// What a script has changed in the header of a message (RFC 5293), as a value, and the header with these edits. Every octet of the other
// fields stays, so that signatures over them remain valid.
import { asciiHeader } from '../header/ascii-header.js';
import { foldedHeader, PREFERRED_LINE } from '../header/header-folding.js';
import { type HeaderLine, headerLines } from '../header/header-lines.js';
import type { SieveField } from './message.js';

export interface HeaderEdit {
  /** Fields above those of the message, in order. */
  readonly first: readonly SieveField[];
  /** Fields below those of the message, in order. */
  readonly last: readonly SieveField[];
  /** The positions of deleted fields among those of the message, ascending. */
  readonly deleted: readonly number[];
}

/** Fields that show the way of a message and what the hosts on it have found. The server reads them: scripts neither add nor delete them. */
const TRACE =
  /^(?:received|return-path|delivered-to|authentication-results|arc-(?:authentication-results|message-signature|seal))$/i;

export const isTraceField = (name: string): boolean => TRACE.test(name);

/** RFC 5293 §6 names Received and Auto-Submitted. */
export const isDeletable = (name: string): boolean => !isTraceField(name) && !/^auto-submitted$/i.test(name);

/** The edits that make `edited` of `fields`; undefined when there are none. The fields that both have are the same objects. */
export function headerEdit(fields: readonly SieveField[], edited: readonly SieveField[]): HeaderEdit | undefined {
  const own = new Set(fields);
  const from = edited.findIndex((field) => own.has(field));
  const to = edited.findLastIndex((field) => own.has(field)) + 1;
  const kept = new Set(edited.slice(Math.max(0, from), to));
  // Without a field of the message, all are above its end.
  const first = from < 0 ? edited : edited.slice(0, from);
  const last = from < 0 ? [] : edited.slice(to);
  const deleted = fields.flatMap((field, position) => (kept.has(field) ? [] : [position]));
  return first.length + last.length + deleted.length === 0 ? undefined : { first, last, deleted };
}

/**
 * Returns the octets of the header after the edit. `header` has the octets from the start of the message to its body. Fields that are added
 * first are below the trace fields at the start: the server reads those there. New text is written in ASCII (RFC 2047).
 */
export function editedHeader(header: Buffer, { first, last, deleted }: HeaderEdit): Buffer {
  const lines = headerLines(header);
  const gone = new Set(deleted);
  let position = 0;
  const kept = lines.filter(({ name }) => name === '' || !gone.has(position++));
  const start = kept.findIndex(({ name }) => !isTraceField(name));
  const above = start < 0 ? kept.length : start;
  const octets = kept.map((line) => endedLine(header, line));
  const end = header.subarray(lines.at(-1)?.end ?? 0);
  octets.splice(above, 0, ...first.map(fieldOctets));
  return Buffer.concat([...octets, ...last.map(fieldOctets), end]);
}

/** The last line of a message without a body may have no end. */
function endedLine(header: Buffer, { start, end }: HeaderLine): Buffer {
  const line = header.subarray(start, end);
  return line.at(-1) === 0x0a ? line : Buffer.concat([line, Buffer.from('\r\n')]);
}

function fieldOctets({ name, value }: SieveField): Buffer {
  const written = Buffer.from(`${name}: ${value}\r\n`);
  const ascii = asciiHeader(written, 'utf-8') ?? written;
  return foldedHeader(ascii, PREFERRED_LINE) ?? ascii;
}
