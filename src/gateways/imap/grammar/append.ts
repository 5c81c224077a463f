// The arguments of APPEND and REPLACE (RFC 9051 §6.3.12, RFC 3502, RFC 4469, RFC 6855, RFC 8508). They are read piece by piece, because
// messages come between: `messageOptions` after the mailbox, then a literal, or the parts of CATENATE.
import type { CommandReader } from '../wire/command-reader.js';
import { dateTime } from './dates.js';
import { flagList } from './flags.js';

export interface MessageOptions {
  /** System flags with their backslash, and keywords, both as written. */
  readonly flags: readonly string[];
  /** ms since the epoch; undefined means now. */
  readonly receivedAt: number | undefined;
  /**
   * What comes next: a literal; the literal of `UTF8 (~{…})`, followed by `)`; or the parts of `CATENATE (…)`, which
   * `catenatePart` reads up to the end of the list.
   */
  readonly data: 'literal' | 'utf8' | 'catenate';
}

export type CatenatePart =
  | { readonly type: 'url'; readonly url: string }
  /** The literal comes next; that of `utf8` is `UTF8 (~{…})` (RFC 6855 §4), followed by `)`. */
  | { readonly type: 'text' | 'utf8' };

const UTF8_BEGINS = 'UTF8 (';

/** Reads from the space after the mailbox, or after the previous message, up to the next message. */
export function messageOptions(reader: CommandReader): MessageOptions {
  reader.space();
  let flags: string[] = [];
  let receivedAt: number | undefined;
  if (reader.isListNext) {
    flags = flagList(reader);
    reader.space();
  }
  if (reader.isNext('"')) {
    receivedAt = dateTime(reader);
    reader.space();
  }
  return { flags, receivedAt, data: messageData(reader) };
}

/** Reads the next part. `isFirst` says that nothing of the list was read. Returns undefined at the end of the list. */
export function catenatePart(reader: CommandReader, isFirst: boolean): CatenatePart | undefined {
  if (!isFirst) {
    if (reader.accept(')')) return undefined;
    reader.space();
  }
  if (reader.accept('URL ')) return { type: 'url', url: reader.astring() };
  const isUtf8 = reader.accept(UTF8_BEGINS);
  if (!isUtf8) reader.expect('TEXT ');
  endOfText(reader);
  return { type: isUtf8 ? 'utf8' : 'text' };
}

function messageData(reader: CommandReader): MessageOptions['data'] {
  if (reader.accept('CATENATE (')) return 'catenate';
  const data = reader.accept(UTF8_BEGINS) ? 'utf8' : 'literal';
  endOfText(reader);
  return data;
}

/** The text before a literal must end where the literal begins. */
function endOfText(reader: CommandReader): void {
  if (!reader.isAtEnd) throw reader.fault('expected a literal');
}
