// What a client expects of the flags of messages after its STORE with .SILENT, and whether they have become so.
import { DELETED_BIT } from '../../../actors/mailbox/packed-columns.js';
import { flagBit, isDeletedFlag } from '../../../mail/flags.js';
import type { FolderMirror } from './folder-mirror.js';

export interface FlagChange {
  readonly mode: 'add' | 'remove' | 'replace';
  /** System flags with their backslash, and keywords. */
  readonly flags: readonly string[];
}

/** Flags of a message as one text, the same for the same flags. */
const textOf = (bits: number, keywords: Iterable<string>): string => [bits, ...[...keywords].sort()].join(' ');

const folded = (keywords: readonly string[]): string[] => keywords.map((name) => name.toLowerCase());

const bitsAt = (mirror: FolderMirror, index: number): number =>
  mirror.flagsAt(index) | (mirror.isDeletedAt(index) ? DELETED_BIT : 0);

/** The flags of a message as the mirror has them. */
export const presentFlags = (mirror: FolderMirror, index: number): string =>
  textOf(bitsAt(mirror, index), folded(mirror.keywordsAt(index)));

/** What the flags of a message, as the mirror has them, become by the change. */
export function expectedFlags({ mode, flags }: FlagChange): (mirror: FolderMirror, index: number) => string {
  const keywords = folded(flags.filter((name) => !isDeletedFlag(name) && flagBit(name) === 0));
  const bits = flags.reduce((all, name) => all | (isDeletedFlag(name) ? DELETED_BIT : flagBit(name)), 0);
  switch (mode) {
    case 'replace': {
      const replaced = textOf(bits, new Set(keywords));
      return () => replaced;
    }
    case 'add':
      return (mirror, index) =>
        textOf(bitsAt(mirror, index) | bits, new Set([...folded(mirror.keywordsAt(index)), ...keywords]));
    case 'remove':
      return (mirror, index) =>
        textOf(
          bitsAt(mirror, index) & ~bits,
          folded(mirror.keywordsAt(index)).filter((name) => !keywords.includes(name)),
        );
  }
}
