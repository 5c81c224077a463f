// Predicts the flags of messages after a STORE with .SILENT, and compares them with the actual ones.
import { DELETED_BIT } from '../../../actors/mailbox/protocol.js';
import { flagBit, isDeletedFlag } from '../../../mail-format/flags.js';
import type { FlagChange, FolderMirror, StoredFlags } from './folder-mirror.js';

/** A comparable value of a message's flags: the bits, or a text when there are keywords. */
export type FlagState = number | string;

const ALL_BITS = 0xffff;

function stateOf(bits: number, keywords: Iterable<string>): FlagState {
  const sorted = [...keywords].sort();
  return sorted.length === 0 ? bits : [bits, ...sorted].join(' ');
}

const folded = (keywords: readonly string[]): string[] => keywords.map((name) => name.toLowerCase());

type FlagsAt = (mirror: FolderMirror, index: number) => FlagState;

/** Reuses the last value, because adjacent messages mostly have the same flags. */
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

/** The present flags of messages in the mirror. */
export const presentFlags = (): FlagsAt => ofNeighbours((bits, keywords) => stateOf(bits, folded(keywords)));

/** The flags that the change makes of the messages' present flags. */
export function expectedFlags(change: FlagChange): FlagsAt {
  const { kept, added } = changeOfBits(change);
  const named = folded(change.flags.filter(isKeyword));
  return ofNeighbours((bits, keywords) =>
    stateOf((bits & kept) | added, keywordsAfter(change.mode, folded(keywords), named)),
  );
}

function keywordsAfter(
  mode: FlagChange['mode'],
  before: readonly string[],
  named: readonly string[],
): Iterable<string> {
  if (mode === 'remove') return before.filter((name) => !named.includes(name));
  return new Set(mode === 'add' ? [...before, ...named] : named);
}

/** The new bits of a message are its `kept` bits and the `added` ones. */
export interface ChangeOfBits {
  readonly kept: number;
  readonly added: number;
}

/** Returns the change of the bits, without keywords. */
export function changeOfBits({ mode, flags }: FlagChange): ChangeOfBits {
  const bits = flags.reduce((all, name) => all | (isDeletedFlag(name) ? DELETED_BIT : flagBit(name)), 0);
  if (mode === 'remove') return { kept: ALL_BITS & ~bits, added: 0 };
  return { kept: mode === 'add' ? ALL_BITS : 0, added: bits };
}

/** Returns the new keywords of a message. */
export type ChangeOfKeywords = (names: readonly string[]) => readonly string[];

export const KEPT_KEYWORDS: ChangeOfKeywords = (names) => names;

const isKeyword = (name: string): boolean => !isDeletedFlag(name) && flagBit(name) === 0;

const namesNoKeyword = ({ flags }: FlagChange): boolean => !flags.some(isKeyword);

/** Returns undefined when keywords are named and the owner has not reported how the account spells them. */
export function changeOfKeywords({ mode, flags, keywords }: StoredFlags): ChangeOfKeywords | undefined {
  if (namesNoKeyword({ mode, flags })) return KEPT_KEYWORDS;
  if (keywords === undefined || mode === 'replace') return undefined;
  const named = new Set(folded(keywords));
  const others = (names: readonly string[]) => names.filter((name) => !named.has(name.toLowerCase()));
  return mode === 'remove' ? others : (names) => [...others(names), ...keywords];
}
