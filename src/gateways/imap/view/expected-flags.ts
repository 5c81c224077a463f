// What a client expects of the flags of messages after its STORE with .SILENT, and whether they have become so.
import { DELETED_BIT } from '../../../actors/mailbox/packed-columns.js';
import { flagBit, isDeletedFlag } from '../../../mail/flags.js';
import type { FlagChange, FolderMirror } from './folder-mirror.js';

/** Flags of a message, the same for the same flags: bits alone, or one text when there are keywords. */
export type FlagState = number | string;

const ALL_BITS = 0xffff;

function stateOf(bits: number, keywords: Iterable<string>): FlagState {
  const sorted = [...keywords].sort();
  return sorted.length === 0 ? bits : [bits, ...sorted].join(' ');
}

const folded = (keywords: readonly string[]): string[] => keywords.map((name) => name.toLowerCase());

/** The flags of a message as the mirror has them. */
export function presentFlags(mirror: FolderMirror, index: number): FlagState {
  const bits = mirror.bitsAt(index);
  const keywords = mirror.keywordsAt(index);
  return keywords.length === 0 ? bits : stateOf(bits, folded(keywords));
}

/** What the flags of a message, as the mirror has them, become by the change. */
export function expectedFlags({ mode, flags }: FlagChange): (mirror: FolderMirror, index: number) => FlagState {
  const keywords = folded(flags.filter((name) => !isDeletedFlag(name) && flagBit(name) === 0));
  const bits = flags.reduce((all, name) => all | (isDeletedFlag(name) ? DELETED_BIT : flagBit(name)), 0);
  switch (mode) {
    case 'replace': {
      const replaced = stateOf(bits, new Set(keywords));
      return () => replaced;
    }
    case 'add':
      return (mirror, index) => {
        const before = mirror.keywordsAt(index);
        const after = mirror.bitsAt(index) | bits;
        if (before.length + keywords.length === 0) return after;
        return stateOf(after, new Set([...folded(before), ...keywords]));
      };
    case 'remove':
      return (mirror, index) => {
        const before = mirror.keywordsAt(index);
        const after = mirror.bitsAt(index) & ~bits;
        if (before.length === 0) return after;
        return stateOf(
          after,
          folded(before).filter((name) => !keywords.includes(name)),
        );
      };
  }
}

/** The bits of a message become those of them that are `kept`, and `added`. */
export interface ChangeOfBits {
  readonly kept: number;
  readonly added: number;
}

/** Undefined when keywords are named. */
export function changeOfBits({ mode, flags }: FlagChange): ChangeOfBits | undefined {
  let bits = 0;
  for (const name of flags) {
    const bit = isDeletedFlag(name) ? DELETED_BIT : flagBit(name);
    if (bit === 0) return undefined;
    bits |= bit;
  }
  if (mode === 'remove') return { kept: ALL_BITS & ~bits, added: 0 };
  return { kept: mode === 'add' ? ALL_BITS : 0, added: bits };
}
