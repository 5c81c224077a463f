// Names in a Maildir: directories of folders (Maildir++: a dot before each level, in modified UTF-7), and what the name of a file
// says about its message (https://cr.yp.to/proto/maildir.html). Flags are capital letters; small letters are keywords, which the
// file `dovecot-keywords` next to the messages lists by number.
import { createHash } from 'node:crypto';
import { decodeModifiedUtf7, encodeModifiedUtf7 } from '../mail-format/modified-utf7.js';

/** A dot within a level, escaped as in modified UTF-7. */
const DOT = '&AC4-';
/** Octets of a file's name. */
const LONGEST_NAME = 255;

/** The levels of a folder's path, read from the name of its directory, which begins with a dot. */
export function levelsOfDirectory(directory: string): string[] {
  return directory
    .slice(1)
    .split('.')
    .map((level) => {
      const parts = level.split(DOT).map(decodeModifiedUtf7);
      // Some programs write UTF-8.
      return parts.every((part) => part !== undefined) ? parts.join('.') : level;
    });
}

/** The directory of a folder; '' for the inbox, which is the Maildir itself. */
export function directoryOf(path: string): string {
  if (path.toLowerCase() === 'inbox') return '';
  const levels = path.split('/').map((level) => level.split('.').map(encodeModifiedUtf7).join(DOT));
  const name = `.${levels.join('.')}`;
  if (Buffer.byteLength(name) <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return `${name.slice(0, LONGEST_NAME - digest.length - 1)}_${digest}`;
}

const LETTERS: readonly (readonly [letter: string, flag: string])[] = [
  ['D', '\\Draft'],
  ['F', '\\Flagged'],
  ['P', '$Forwarded'],
  ['R', '\\Answered'],
  ['S', '\\Seen'],
  ['T', '\\Deleted'],
];
const FLAGS = new Map(LETTERS);
const LETTER_OF = new Map(LETTERS.map(([letter, flag]) => [flag.toLowerCase(), letter]));
const FIRST_KEYWORD = 'a'.charCodeAt(0);
/** At most this many keywords of a directory have letters. */
export const MOST_KEYWORD_LETTERS = 26;
const INFO = /[:;!]2,([^,]*)/;

/** The part of a file's name that stays when flags change. */
export function uniqueName(file: string): string {
  const info = INFO.exec(file);
  return info === null ? file : file.slice(0, info.index);
}

/** `keywords`: indexed by the number of their letter. */
export function flagsOfName(file: string, keywords: readonly (string | undefined)[]): string[] {
  const flags = Array.from(INFO.exec(file)?.[1] ?? '').flatMap(
    (letter) => FLAGS.get(letter) ?? keywords[letter.charCodeAt(0) - FIRST_KEYWORD] ?? [],
  );
  return [...new Set(flags)];
}

/** The end of a file's name, which states the flags of the message. Flags without a letter are left out. */
export function infoOf(flags: readonly string[], keywords: readonly (string | undefined)[]): string {
  const letters = flags.flatMap((flag) => {
    const folded = flag.toLowerCase();
    const index = keywords.findIndex((keyword) => keyword?.toLowerCase() === folded);
    const keyword = index < 0 ? [] : [String.fromCharCode(FIRST_KEYWORD + index)];
    return [...(LETTER_OF.get(folded) ?? []), ...keyword];
  });
  return `:2,${[...new Set(letters)].sort().join('')}`;
}

/** Whether a flag needs a letter of `dovecot-keywords`; `$Forwarded` does, because Dovecot does not know its letter P. */
export function isKeywordOfDirectory(flag: string): boolean {
  const letter = LETTER_OF.get(flag.toLowerCase());
  return letter === undefined || letter === 'P';
}

/** The lines `number keyword` of a file `dovecot-keywords`. */
export function keywordsOf(text: string): (string | undefined)[] {
  const keywords: (string | undefined)[] = [];
  for (const [, number, keyword] of text.matchAll(/^(\d{1,2}) (\S+)$/gm)) {
    if (Number(number) < MOST_KEYWORD_LETTERS) keywords[Number(number)] = keyword;
  }
  return keywords;
}

export function keywordLines(keywords: readonly (string | undefined)[]): string {
  return Array.from(keywords, (keyword, number) => (keyword === undefined ? '' : `${number} ${keyword}\n`)).join('');
}

/** The end of the unique names of files that an export wrote; the octets of these messages are unchanged. */
const EXPORTED = /\.([0-9a-f-]{36})_(\d+)\.mansio(?:,|$)/;

export interface ExportedName {
  readonly emailId: string;
  readonly uid: number;
}

export function exportedName({ emailId, uid }: ExportedName, receivedAt: number, size: number): string {
  return `${Math.max(0, Math.floor(receivedAt / 1000))}.${emailId}_${uid}.mansio,S=${size}`;
}

export function readExportedName(file: string): ExportedName | undefined {
  const found = EXPORTED.exec(uniqueName(file));
  return found === null ? undefined : { emailId: found[1]!, uid: Number(found[2]) };
}
