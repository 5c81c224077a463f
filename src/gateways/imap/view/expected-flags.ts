// What a client expects of the flags of messages after its STORE with .SILENT, and whether they have become so.
import { DELETED_BIT } from '../../../actors/mailbox/packed-columns.js';
import { flagBit, isDeletedFlag } from '../../../mail/flags.js';
import type { FlagChange, FolderMirror, StoredFlags } from './folder-mirror.js';

/** Flags of a message, the same for the same flags: bits alone, or one text when there are keywords. */
export type FlagState = number | string;

const ALL_BITS = 0xffff;

function stateOf(bits: number, keywords: Iterable<string>): FlagState {
  const sorted = [...keywords].sort();
  return sorted.length === 0 ? bits : [bits, ...sorted].join(' ');
}

const folded = (keywords: readonly string[]): string[] => keywords.map((name) => name.toLowerCase());

type FlagsAt = (mirror: FolderMirror, index: number) => FlagState;

/** Neighbours mostly have the same flags: what was made of those of the message before is made once. */
function ofNeighbours(make: (bits: number, keywords: readonly string[]) => FlagState): FlagsAt {
  let lastBits = -1;
  let lastKeywords: readonly string[] = [];
  let last: FlagState = 0;
  return (mirror, index) => {
    const bits = mirror.bitsAt(index);
    const keywords = mirror.keywordsAt(index);
    if (bits !== lastBits || keywords !== lastKeywords) {
      last = make(bits, keywords);
      lastBits = bits;
      lastKeywords = keywords;
    }
    return last;
  };
}

/** The flags of messages as the mirror has them. */
export const presentFlags = (): FlagsAt => ofNeighbours((bits, keywords) => stateOf(bits, folded(keywords)));

/** What the flags of messages, as the mirror has them, become by the change. */
export function expectedFlags({ mode, flags }: FlagChange): FlagsAt {
  const keywords = folded(flags.filter(isKeyword));
  const bits = flags.reduce((all, name) => all | (isDeletedFlag(name) ? DELETED_BIT : flagBit(name)), 0);
  switch (mode) {
    case 'replace': {
      const replaced = stateOf(bits, new Set(keywords));
      return () => replaced;
    }
    case 'add':
      return ofNeighbours((before, named) => stateOf(before | bits, new Set([...folded(named), ...keywords])));
    case 'remove':
      return ofNeighbours((before, named) =>
        stateOf(
          before & ~bits,
          folded(named).filter((name) => !keywords.includes(name)),
        ),
      );
  }
}

/** The bits of a message become those of them that are `kept`, and `added`. */
export interface ChangeOfBits {
  readonly kept: number;
  readonly added: number;
}

/** Compares the bits; keywords are left out. */
export function changeOfBits({ mode, flags }: FlagChange): ChangeOfBits {
  const bits = flags.reduce((all, name) => all | (isDeletedFlag(name) ? DELETED_BIT : flagBit(name)), 0);
  if (mode === 'remove') return { kept: ALL_BITS & ~bits, added: 0 };
  return { kept: mode === 'add' ? ALL_BITS : 0, added: bits };
}

/** The keywords of a message become these. */
export type ChangeOfKeywords = (names: readonly string[]) => readonly string[];

export const KEPT_KEYWORDS: ChangeOfKeywords = (names) => names;

const isKeyword = (name: string): boolean => !isDeletedFlag(name) && flagBit(name) === 0;

export const namesNoKeyword = ({ flags }: FlagChange): boolean => !flags.some(isKeyword);

/** Undefined when keywords are named and the owner has not said how the account spells them. */
export function changeOfKeywords({ mode, flags, keywords }: StoredFlags): ChangeOfKeywords | undefined {
  if (namesNoKeyword({ mode, flags })) return KEPT_KEYWORDS;
  if (keywords === undefined || mode === 'replace') return undefined;
  const named = new Set(folded(keywords));
  const others = (names: readonly string[]) => names.filter((name) => !named.has(name.toLowerCase()));
  return mode === 'remove' ? others : (names) => [...others(names), ...keywords];
}
