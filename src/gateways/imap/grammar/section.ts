// Sections of a message that FETCH names (RFC 9051 §6.4.5.1).
import { DEFAULT_LIMITS } from '../../../mail-format/mime-index/limits.js';
import type { CommandReader } from '../wire/command-reader.js';

/** Octets [offset, offset + length) of the section. */
export interface PartialRange {
  readonly offset: number;
  readonly length: number;
}

/** The deepest part of an index has one number per level and its own. */
const PART_NUMBERS = DEFAULT_LIMITS.depth + 1;

const TEXTS = ['HEADER', 'HEADER.FIELDS', 'HEADER.FIELDS.NOT', 'TEXT', 'MIME'] as const;
type SectionText = (typeof TEXTS)[number];

export interface Section {
  /** Part numbers; an empty list means the message itself. */
  readonly part: readonly number[];
  readonly text: SectionText | null;
  /** Names as the client wrote them; only HEADER.FIELDS and HEADER.FIELDS.NOT have them. */
  readonly fields: readonly string[];
}

/** `section` with its brackets. */
export function section(reader: CommandReader): Section {
  reader.expect('[');
  const part = partNumbers(reader);
  if (reader.accept(']')) return { part, text: null, fields: [] };
  if (part.length > 0) reader.expect('.');
  const text = sectionText(reader);
  if (text === 'MIME' && part.length === 0) throw reader.fault('expected a part number before MIME');
  const fields = text.startsWith('HEADER.FIELDS') ? headerFields(reader) : [];
  reader.expect(']');
  return { part, text, fields };
}

/** `section-binary` with its brackets. */
export function binarySection(reader: CommandReader): readonly number[] {
  reader.expect('[');
  const part = partNumbers(reader);
  reader.expect(']');
  return part;
}

/** `partial`: `<0.1024>`. */
export function partialRange(reader: CommandReader): PartialRange | undefined {
  if (!reader.accept('<')) return undefined;
  const offset = reader.number64();
  reader.expect('.');
  const length = reader.nzNumber64();
  reader.expect('>');
  return { offset, length };
}

/** `1.2.3` without a dot after it; empty when no number comes next. */
function partNumbers(reader: CommandReader): number[] {
  const part: number[] = [];
  while (reader.isDigitNext(part.length === 0 ? 0 : 1)) {
    if (part.length === PART_NUMBERS) throw reader.fault(`expected no more than ${PART_NUMBERS} part numbers`);
    if (part.length > 0) reader.expect('.');
    part.push(reader.nzNumber());
  }
  return part;
}

function sectionText(reader: CommandReader): SectionText {
  const word = reader.word();
  const text = TEXTS.find((known) => known === word);
  if (text === undefined) throw reader.fault(`expected ${TEXTS.join(', ')} or ]`);
  return text;
}

function headerFields(reader: CommandReader): string[] {
  reader.space();
  return reader.list(() => reader.astring(), 1);
}
