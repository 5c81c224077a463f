// Search keys (RFC 9051 §6.4.4) and the charset of their texts. Keys are counted while they are read, and their nesting depth
// is bounded, so that no program is too large to be run.
import { isUtf8 } from 'node:buffer';
import { decodeCharset, isKnownCharset } from '../../../mail-format/decode/charset.js';
import { no, Refused } from '../completion.js';
import type { CommandReader } from '../wire/command-reader.js';
import { calendarDay } from './dates.js';
import type { SearchKey } from './search-key.js';
import { sequenceSet } from './sequence-set.js';

export const UTF_8 = 'UTF-8';

interface Program {
  readonly reader: CommandReader;
  readonly charset: string;
  readonly mostKeys: number;
  keys: number;
}

type KeyReader = (program: Program) => SearchKey;

/** Returns the name in upper case. */
export const charsetNamed = (reader: CommandReader): string => reader.astring().toUpperCase();

/** Called after the command was read, because a malformed command gets BAD whatever its charset. @throws Refused NO [BADCHARSET] */
export function refuseUnknownCharset(charset: string): void {
  if (!isKnownCharset(charset)) throw new Refused(no('Unknown charset', 'BADCHARSET (US-ASCII UTF-8)'));
}

/** Reads one or more keys, up to the end of the command. */
export function searchProgram(reader: CommandReader, charset: string, mostKeys: number): SearchKey {
  return keysOf({ reader, charset, mostKeys, keys: 0 });
}

function keysOf(program: Program): SearchKey {
  const first = searchKey(program);
  if (!program.reader.isNext(' ')) return first;
  const keys = [first];
  // A space may precede the parenthesis that closes the group, as in every list.
  while (program.reader.accept(' ') && !program.reader.isNext(')')) keys.push(searchKey(program));
  return keys.length === 1 ? first : { type: 'and', keys };
}

function searchKey(program: Program): SearchKey {
  const { reader } = program;
  count(program);
  if (reader.accept('(')) {
    reader.accept(' ');
    const keys = reader.nested(() => keysOf(program));
    reader.expect(')');
    return keys;
  }
  if (reader.isDigitNext() || reader.isNext('*') || reader.isNext('$')) {
    return { type: 'set', set: sequenceSet(reader), isByUid: false };
  }
  const read = KEYS.get(reader.word());
  if (read === undefined) throw reader.fault('expected a search key');
  return read(program);
}

function count(program: Program): void {
  const { reader, mostKeys } = program;
  if (++program.keys > mostKeys) throw reader.fault(`expected no more than ${mostKeys} search keys`);
}

const ALL: SearchKey = { type: 'all' };
const NONE: SearchKey = { type: 'not', key: ALL };

const always =
  (key: SearchKey): KeyReader =>
  () =>
    key;
const flag = (name: string, isSet: boolean): KeyReader => always({ type: 'flag', name, isSet });
/** Reads the argument after a space. */
const after = <T>({ reader }: Program, read: (reader: CommandReader) => T): T => {
  reader.space();
  return read(reader);
};
const header =
  (name: string): KeyReader =>
  (program) => ({ type: 'header', name, text: text(program) });
const day =
  (of: 'received' | 'sent' | 'saved', compare: 'before' | 'on' | 'since'): KeyReader =>
  (program) => ({ type: 'day', of, compare, day: after(program, calendarDay) });

const KEYS = new Map<string, KeyReader>([
  ['ALL', always(ALL)],
  ['ANSWERED', flag('\\Answered', true)],
  ['UNANSWERED', flag('\\Answered', false)],
  ['DELETED', flag('\\Deleted', true)],
  ['UNDELETED', flag('\\Deleted', false)],
  ['DRAFT', flag('\\Draft', true)],
  ['UNDRAFT', flag('\\Draft', false)],
  ['FLAGGED', flag('\\Flagged', true)],
  ['UNFLAGGED', flag('\\Flagged', false)],
  ['SEEN', flag('\\Seen', true)],
  ['UNSEEN', flag('\\Seen', false)],
  // No message is `\Recent` (RFC 9051 Appendix D.1).
  ['NEW', always(NONE)],
  ['RECENT', always(NONE)],
  ['OLD', always(ALL)],
  ['KEYWORD', (program) => ({ type: 'flag', name: after(program, (reader) => reader.atom()), isSet: true })],
  ['UNKEYWORD', (program) => ({ type: 'flag', name: after(program, (reader) => reader.atom()), isSet: false })],
  ['BCC', header('bcc')],
  ['CC', header('cc')],
  ['FROM', header('from')],
  ['SUBJECT', header('subject')],
  ['TO', header('to')],
  ['HEADER', (program) => ({ type: 'header', name: fieldName(program), text: text(program) })],
  ['BODY', (program) => ({ type: 'body', text: text(program) })],
  ['TEXT', (program) => ({ type: 'text', text: text(program) })],
  ['LARGER', (program) => ({ type: 'larger', octets: after(program, (reader) => reader.number64()) })],
  ['SMALLER', (program) => ({ type: 'smaller', octets: after(program, (reader) => reader.number64()) })],
  ['BEFORE', day('received', 'before')],
  ['ON', day('received', 'on')],
  ['SINCE', day('received', 'since')],
  ['SENTBEFORE', day('sent', 'before')],
  ['SENTON', day('sent', 'on')],
  ['SENTSINCE', day('sent', 'since')],
  ['SAVEDBEFORE', day('saved', 'before')],
  ['SAVEDON', day('saved', 'on')],
  ['SAVEDSINCE', day('saved', 'since')],
  ['SAVEDATESUPPORTED', always({ type: 'saveDateSupported' })],
  ['OLDER', (program) => ({ type: 'older', seconds: after(program, (reader) => reader.nzNumber()) })],
  ['YOUNGER', (program) => ({ type: 'younger', seconds: after(program, (reader) => reader.nzNumber()) })],
  ['UID', (program) => ({ type: 'set', set: after(program, sequenceSet), isByUid: true })],
  ['MODSEQ', (program) => ({ type: 'modseq', atLeast: after(program, modseq) })],
  ['EMAILID', (program) => ({ type: 'emailId', id: after(program, (reader) => reader.astring()) })],
  ['THREADID', (program) => ({ type: 'threadId', id: after(program, (reader) => reader.astring()) })],
  ['NOT', (program) => program.reader.nested(() => ({ type: 'not', key: nextKey(program) }))],
  ['OR', alternatives],
]);

/**
 * Reads the keys after the first OR. A choice of many keys needs an OR for each of them: such a chain is no nesting, and only
 * the number of keys bounds it.
 */
function alternatives(program: Program): SearchKey {
  const { reader } = program;
  /** The left key of each open OR, once it was read. */
  const open: (SearchKey | undefined)[] = [undefined];
  for (;;) {
    reader.space();
    if (reader.isNext('OR ')) {
      reader.expect('OR');
      count(program);
      open.push(undefined);
      continue;
    }
    let key = searchKey(program);
    for (let left = open.at(-1); left !== undefined; left = open.at(-1)) {
      key = { type: 'or', left, right: key };
      open.pop();
    }
    if (open.length === 0) return key;
    open[open.length - 1] = key;
  }
}

function nextKey(program: Program): SearchKey {
  program.reader.space();
  return searchKey(program);
}

const fieldName = (program: Program): string => after(program, (reader) => reader.astring()).toLowerCase();

/** Reads an `astring` in the charset of the command. Invalid UTF-8 is refused; an unknown charset is refused later. */
function text(program: Program): string {
  const { reader, charset } = program;
  const octets = after(program, () => reader.astringOctets());
  const isUnicode = charset === UTF_8 || charset === 'US-ASCII';
  if (isUnicode && !isUtf8(octets)) throw reader.fault('expected a text of UTF-8');
  return isUnicode ? octets.toString('utf8') : decodeCharset(octets, charset);
}

/** `MODSEQ ["entry" priv|shared|all] number`: a message has one mod-sequence, whatever the entry (RFC 7162 §3.1.5). */
function modseq(reader: CommandReader): number {
  if (reader.isNext('"')) {
    reader.string();
    reader.space();
    const type = reader.word();
    if (type !== 'PRIV' && type !== 'SHARED' && type !== 'ALL') throw reader.fault('expected priv, shared or all');
    reader.space();
  }
  return reader.number64();
}
