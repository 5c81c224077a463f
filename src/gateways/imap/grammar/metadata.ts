// The arguments of GETMETADATA and SETMETADATA (RFC 5464). Names of entries are case-insensitive, so they are converted to lower case.
import type { CommandReader } from '../wire/command-reader.js';

export interface GetMetadataArguments {
  /** The mailbox; an empty name means the server. */
  readonly mailbox: string;
  readonly entries: readonly string[];
  /** In octets; longer values are omitted. */
  readonly maxSize: number | undefined;
  /** The number of levels below the entries that are returned too. */
  readonly depth: 0 | 1 | 'infinity';
}

export interface SetMetadataArguments {
  /** The mailbox; an empty name means the server. */
  readonly mailbox: string;
  /** Null removes the entry. */
  readonly entries: readonly { readonly name: string; readonly value: Buffer | null }[];
}

type Options = Pick<GetMetadataArguments, 'maxSize' | 'depth'>;

const MOST_ENTRIES = 1_000;
/** Non-empty levels of printable ASCII (RFC 5464 §3.2). */
const ENTRY_NAME = /^(\/[\x20-\x24\x26-\x29\x2b-\x2e\x30-\x7e]+)+$/;

export function getMetadataArguments(reader: CommandReader): GetMetadataArguments {
  const before = reader.isListNext ? getOptions(reader) : undefined;
  if (before !== undefined) reader.space();
  const mailbox = reader.mailbox();
  reader.space();
  // The examples of RFC 5464 have the options after the mailbox name.
  const behind = before === undefined && reader.isListNext ? optionsOrEntries(reader) : undefined;
  if (behind !== undefined && 'entries' in behind) return { mailbox, maxSize: undefined, depth: 0, ...behind };
  const options = before ?? behind ?? { maxSize: undefined, depth: 0 };
  if (behind !== undefined) reader.space();
  const entries = reader.isListNext ? entryNames(reader) : [entryName(reader)];
  return { mailbox, entries, ...options };
}

export function setMetadataArguments(reader: CommandReader): SetMetadataArguments {
  const mailbox = reader.mailbox();
  reader.space();
  const entries = boundedList(reader, () => {
    const name = entryName(reader);
    reader.space();
    return { name, value: reader.nstringOctets() };
  });
  return { mailbox, entries };
}

/** Reads names in parentheses. */
export const entryNames = (reader: CommandReader): string[] => boundedList(reader, () => entryName(reader));

function entryName(reader: CommandReader): string {
  const name = reader.astring();
  if (!ENTRY_NAME.test(name)) throw reader.fault('expected the name of an entry such as /private/comment');
  return name.toLowerCase();
}

function boundedList<T>(reader: CommandReader, item: () => T): T[] {
  let count = 0;
  return reader.list(() => {
    if (++count > MOST_ENTRIES) throw reader.fault(`expected no more than ${MOST_ENTRIES} entries`);
    return item();
  }, 1);
}

function optionsOrEntries(reader: CommandReader): Options | { readonly entries: readonly string[] } {
  return reader.isNext('(MAXSIZE ') || reader.isNext('(DEPTH ') ? getOptions(reader) : { entries: entryNames(reader) };
}

function getOptions(reader: CommandReader): Options {
  let maxSize: number | undefined;
  let depth: GetMetadataArguments['depth'] = 0;
  reader.list(() => {
    const word = reader.word();
    reader.space();
    if (word === 'MAXSIZE') maxSize = reader.number();
    else if (word === 'DEPTH') depth = depthOf(reader);
    else throw reader.fault('expected MAXSIZE or DEPTH');
  }, 1);
  return { maxSize, depth };
}

function depthOf(reader: CommandReader): GetMetadataArguments['depth'] {
  if (reader.accept('INFINITY')) return 'infinity';
  if (reader.accept('0')) return 0;
  if (reader.accept('1')) return 1;
  throw reader.fault('expected 0, 1 or infinity');
}
