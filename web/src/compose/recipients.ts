// Reads what somebody types or pastes into To, Cc or Bcc: lists with names, quotes, comments and groups, as mail programs and spreadsheets
// write them. A text that is no address stays in the list, so that it can be seen and corrected.
import { addressKey, isAddress, type Person, shownName } from './address.js';

/** One entry of a field. `isValid` is false for a text that is no address: then `address` is that text. */
export interface Recipient extends Person {
  readonly isValid: boolean;
}

export type RecipientType = 'To' | 'Cc' | 'Bcc';
export const RECIPIENT_TYPES: readonly RecipientType[] = ['To', 'Cc', 'Bcc'];
export type Recipients = Readonly<Record<RecipientType, readonly Recipient[]>>;
export const NO_RECIPIENTS: Recipients = { To: [], Cc: [], Bcc: [] };

/** The server's bound for one email. */
export const MOST_RECIPIENTS = 100;

/** A pasted text is read up to here, and an entry up to a length: what is beyond stays as one entry that is no address. */
const LONGEST_TEXT = 100_000;
const LONGEST_ENTRY = 1_000;

export function parseRecipients(text: string): readonly Recipient[] {
  const found = cut(withoutGroups(text.slice(0, LONGEST_TEXT)), STRONG).flatMap(ofSegment);
  const rest = text.slice(LONGEST_TEXT).trim();
  return merged([], rest === '' ? found : [...found, entry('', rest, rest)]);
}

/** Appends what is not in the list yet; an address that is there already keeps its first name. */
export function merged(list: readonly Recipient[], more: readonly Recipient[]): readonly Recipient[] {
  const keys = new Set(list.map(keyOf));
  const added = more.filter((one) => {
    const isNew = !keys.has(keyOf(one));
    keys.add(keyOf(one));
    return isNew;
  });
  return added.length === 0 ? list : [...list, ...added];
}

export const asRecipient = ({ name, address }: Person): Recipient => ({
  name: shownName(name),
  address,
  isValid: isAddress(address),
});

const keyOf = ({ address }: Recipient): string => addressKey(address);

/** The characters that always separate entries, and those that may belong to a name. */
const STRONG = /[;\uff1b\r\n\t]/;
const WEAK = /[,\uff0c\u060c\u3001]/;

/** Reads a part between semicolons or line ends. */
function ofSegment(segment: string): readonly Recipient[] {
  const pieces = cut(segment, WEAK);
  const last = pieces.at(-1);
  // `Doe, John <john@example.org>`: the comma belongs to the name.
  const isOneName =
    pieces.length > 1 &&
    last !== undefined &&
    /^[^<]+<[^<>]+>$/.test(last) &&
    !pieces.slice(0, -1).join().includes('@');
  return isOneName ? ofPiece(segment.trim()) : pieces.flatMap(ofPiece);
}

function ofPiece(piece: string): readonly Recipient[] {
  if (piece.length > LONGEST_ENTRY) return [entry('', piece, piece)];
  const angled = /^(.*?)\s*<\s*([^<>]*?)\s*>\s*(?:\(([^()]*)\))?$/su.exec(piece);
  if (angled !== null) return [entry(angled[1]! || angled[3] || '', angled[2]!, piece)];
  const commented = /^([^\s()]+)\s*\(([^()]*)\)$/u.exec(piece);
  if (commented !== null) return [entry(commented[2]!, commented[1]!, piece)];
  const words = piece.split(/\s+/u);
  if (words.length > 1 && words.every((word) => isAddress(bare(word))))
    return words.map((word) => entry('', word, word));
  return [entry('', piece, piece)];
}

function entry(name: string, address: string, whole: string): Recipient {
  const found = bare(address);
  if (isAddress(found)) return { name: shownName(unquoted(name)), address: found, isValid: true };
  return { name: '', address: whole.trim(), isValid: false };
}

/** Removes what surrounds an address in links and in lists that people copy. */
const bare = (text: string): string =>
  text
    .trim()
    .replace(/^mailto:/i, '')
    .replace(/^([^"?]*)\?.*$/, '$1')
    .replace(/^'(.*)'$/, '$1');

const unquoted = (name: string): string =>
  name
    .trim()
    .replace(/^(["'])(.*)\1$/su, '$2')
    .replace(/\\(.)/gu, '$1');

/** Matches the name of a group (RFC 5322 §3.4), from the separator before it to its colon. */
const GROUP_NAME = /(^|[,;\n])((?:"(?:[^"\\]|\\.)*"|[^":;,<>@\n])+):/gu;

/** Removes `Friends:` before the members of a group, which a semicolon ends. */
function withoutGroups(text: string): string {
  const end = text.lastIndexOf(';');
  return text.replace(GROUP_NAME, (whole, before: string, name: string, at: number) =>
    at + whole.length > end || /^\s*mailto$/i.test(name) ? whole : before,
  );
}

/** Cuts the text at the separators outside of quotes, comments and angle brackets; empty pieces are left out. */
function cut(text: string, separator: RegExp): readonly string[] {
  const pieces: string[] = [];
  let [start, isQuoted, depth] = [0, false, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (isQuoted && character === '\\') i++;
    else if (character === '"') isQuoted = !isQuoted && text.indexOf('"', i + 1) > 0;
    else if (isQuoted) continue;
    else if (character === '<' || character === '(') depth++;
    else if (character === '>' || character === ')') depth = Math.max(0, depth - 1);
    else if (separator.test(character) && (depth === 0 || character === '\n')) {
      pieces.push(text.slice(start, i));
      [start, depth] = [i + 1, 0];
    }
  }
  pieces.push(text.slice(start));
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}
