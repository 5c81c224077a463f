// Names of folders and labels. A folder's name is its whole path, as IMAP shows mailbox names (RFC 9051 §5.1): composed (NFC), without
// control characters, with `/` between levels, of which none is empty or has blanks at its ends. Names are compared by `caseFolded`; the
// names of the system folders are reserved at the top level.
import { caseFolded } from './words/case-fold.js';

/** The most characters of one level, and of the whole name of a label. */
export const LONGEST_LEVEL = 100;
export const LONGEST_PATH = 1_000;
export const MOST_LEVELS = 20;
/** The most labels of an account, and the most folders that its users have created. */
export const MOST_FOLDERS_OF_ROLE = 500;
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;
export const SYSTEM_NAMES = ['Inbox', 'Sent', 'Drafts', 'Trash', 'Junk', 'Archive', 'Outbox'];
const TAKEN = new Set(SYSTEM_NAMES.map(caseFolded));

export const LABEL_COLOR = /^#[0-9a-f]{6}$/i;

type NameRead = { readonly name: string } | { readonly problem: string };

/** Returns one level of a folder's path as it is stored, or its problem in words. */
export function levelName(text: string): NameRead {
  const read = labelName(text);
  return 'name' in read && read.name.includes('/') ? { problem: 'must have no slashes' } : read;
}

/** Returns a folder's displayed name as it is stored; it has several levels when folders above it are missing. */
export function shownName(text: string): NameRead {
  const read = text.split('/').map(labelName);
  const wrong = read.find((level) => 'problem' in level);
  return wrong ?? { name: read.map((level) => ('name' in level ? level.name : '')).join('/') };
}

/** Returns a label's name as it is stored, or its problem in words. It may have several levels. */
export function labelName(text: string): NameRead {
  // This check precedes the trim, which would remove a line break at an end.
  if (UNFIT.test(text)) return { problem: 'must have no control characters or line breaks' };
  const levels = levelsOf(text.normalize('NFC')).map((level) => level.trim());
  const name = levels.join('/');
  const length = lengthOf(name);
  if (length === 0 || length > LONGEST_LEVEL) return { problem: `must have 1 to ${LONGEST_LEVEL} characters` };
  if (levels.length > MOST_LEVELS) return { problem: `must have at most ${MOST_LEVELS} levels` };
  if (levels.includes('')) return { problem: 'must have no empty level between slashes' };
  return { name };
}

export const isSystemName = (path: string): boolean => TAKEN.has(caseFolded(path));

/** Returns true when the whole path is within the limits; each of its levels has been checked. */
export const isPathWithinBounds = (path: string): boolean =>
  lengthOf(path) <= LONGEST_PATH && levelsOf(path).length <= MOST_LEVELS;

export const isBelow = (path: string, superior: string): boolean =>
  caseFolded(path).startsWith(`${caseFolded(superior)}/`);

/** Returns the paths above a path, case-folded, the longest first. */
export function superiorsOf(path: string): string[] {
  const levels = levelsOf(caseFolded(path));
  return levels.slice(1).map((_, i) => levels.slice(0, levels.length - 1 - i).join('/'));
}

/** Returns the part of a path below the first `count` levels. */
export const belowLevels = (path: string, count: number): string => levelsOf(path).slice(count).join('/');

const lengthOf = (text: string): number => Array.from(text).length;

export const levelsOf = (path: string): string[] => path.split('/');
