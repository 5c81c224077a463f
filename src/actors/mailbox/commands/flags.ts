// Flags of emails: stored by name, for emails or for the placements of a folder, and marked read or unread. Names that have
// a bit are bits; `\Deleted` belongs to a placement; all others are keywords, of which an account has at most 200.
import { flagBit, isDeletedFlag, isKeyword, MOST_KEYWORDS, SEEN } from '../../../mail-format/flags.js';
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import { inKeywordOrder } from '../state/keyword-order.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { modseqsOf } from './placing.js';
import { found, rangesOf, selected } from './selection.js';

/** The most octets of keywords that one command writes: a changed email is written with all its keywords. */
const MOST_KEYWORD_OCTETS = 4 * 1024 * 1024;

export interface FlagSet {
  readonly bits: number;
  /** The spelling is that of the account. */
  readonly keywords: readonly string[];
  readonly isDeleted: boolean;
}

/** The new flags of emails that had the same bits, or whose keywords change. */
interface FlagsOfSlots {
  readonly bits: number;
  /** The bits that change; only used when the keywords stay. */
  readonly changed: number;
  /** Undefined when they stay. */
  readonly keywords?: readonly string[];
  readonly slots: number[];
}

type Mode = Payload<MailboxProtocol, 'storeFlags'>['mode'];

export function storeFlags(
  tx: MailboxTransaction,
  { selection, mode, flags, unchangedSince }: Payload<MailboxProtocol, 'storeFlags'>,
): Outcome<MailboxProtocol, 'storeFlags'> {
  const chosen = selected(tx, selection);
  if ('refusal' in chosen) return chosen;
  const named = flagsNamed(tx, flags, mode !== 'remove');
  if ('refusal' in named) return named;
  const { slots, missing, folderId } = chosen;
  if (named.isDeleted && folderId === undefined) return { refusal: 'noSuchFlag' };
  const isTooMuch = keywordOctets(tx, slots, named.keywords, mode) > MOST_KEYWORD_OCTETS;
  if (isTooMuch) return { refusal: 'tooManyEmails' };
  if (folderId === undefined) {
    return { reply: { changed: store(tx, slots, named, mode, folderId), missing, modified: [] } };
  }
  const before = tx.folders.row(folderId)!.highestModseq;
  if (unchangedSince === undefined) {
    const changed = store(tx, slots, named, mode, folderId);
    const folderModseqs = modseqsOf(tx, folderId, before);
    return { reply: { changed, missing, modified: [], folderModseqs, keywords: [...named.keywords] } };
  }
  const isModified = (slot: number) => tx.modseq(slot, folderId) > unchangedSince;
  const unmodified = slots.filter((slot) => !isModified(slot));
  const modified = slots.filter(isModified).map((slot) => tx.folders.uid(folderId, slot));
  const changed = store(tx, unmodified, named, mode, folderId);
  return { reply: { changed, missing, modified: rangesOf(modified), folderModseqs: modseqsOf(tx, folderId, before) } };
}

export function setRead(
  tx: MailboxTransaction,
  { emailIds, isRead }: Payload<MailboxProtocol, 'setRead'>,
): Outcome<MailboxProtocol, 'setRead'> {
  const { missing, slots } = found(tx, emailIds);
  const seen = { bits: SEEN, keywords: [], isDeleted: false };
  return { reply: { changed: store(tx, slots, seen, isRead ? 'add' : 'remove', undefined), missing } };
}

/** Returns the flags with these names; `areKept`: new keywords are added to the account, whose number is limited. */
export function flagsNamed(
  tx: MailboxTransaction,
  names: readonly string[],
  areKept: boolean,
): FlagSet | { readonly refusal: 'noSuchFlag' | 'tooManyKeywords' } {
  let bits = 0;
  let isDeleted = false;
  const keywords = new Map<string, string>();
  let known: ReadonlyMap<string, string> | undefined;
  let added = 0;
  for (const name of names) {
    if (isDeletedFlag(name)) {
      isDeleted = true;
      continue;
    }
    const bit = flagBit(name);
    bits |= bit;
    if (bit !== 0) continue;
    if (!isKeyword(name)) return { refusal: 'noSuchFlag' };
    known ??= tx.keywordNames();
    const folded = name.toLowerCase();
    if (keywords.has(folded)) continue;
    if (!known.has(folded)) added++;
    keywords.set(folded, known.get(folded) ?? name);
  }
  if (areKept && added > 0 && known!.size + added > MOST_KEYWORDS) return { refusal: 'tooManyKeywords' };
  return { bits, keywords: [...keywords.values()], isDeleted };
}

/** Returns the flags with these names, without keywords that would exceed the account's limit and names that are no flags. */
export function keptFlags(tx: MailboxTransaction, names: Iterable<string>): FlagSet {
  const known = new Set(tx.keywordNames().keys());
  const kept = [...new Set(names)].filter((name) => {
    if (flagBit(name) !== 0 || isDeletedFlag(name)) return true;
    if (!isKeyword(name)) return false;
    const folded = name.toLowerCase();
    if (known.size < MOST_KEYWORDS) known.add(folded);
    return known.has(folded);
  });
  const flags = flagsNamed(tx, kept, true);
  if ('refusal' in flags) throw new Error(`flags that an account may have: ${flags.refusal}`);
  return flags;
}

/** Selects the flags with these names from all flags of the command. */
export function flagsAmong(all: FlagSet, names: readonly string[]): FlagSet {
  const bits = names.reduce((union, name) => union | flagBit(name), 0);
  return { bits, keywords: all.keywords.filter(isAmong(names)), isDeleted: names.some(isDeletedFlag) };
}

/** An upper bound of the octets of all keywords that the emails have afterwards; 0 when their keywords stay. */
function keywordOctets(tx: MailboxTransaction, slots: readonly number[], named: readonly string[], mode: Mode): number {
  const octetsOf = (names: readonly string[]) => names.reduce((octets, name) => octets + name.length, 0);
  if (named.length === 0) return 0;
  let octets = mode === 'remove' ? 0 : octetsOf(named) * slots.length;
  if (mode === 'replace' || slots.length === 0) return octets;
  const shared = tx.sharedKeywords(slots);
  if (shared !== undefined) return octets + octetsOf(shared) * slots.length;
  for (const slot of slots) octets += octetsOf(tx.keywords(slot));
  return octets;
}

/** Returns the number of emails whose flags change, including `\Deleted` in the folder if there is one. */
function store(
  tx: MailboxTransaction,
  slots: readonly number[],
  flags: FlagSet,
  mode: Mode,
  folderId: string | undefined,
): number {
  const bitsOf = (before: number) =>
    mode === 'replace' ? flags.bits : mode === 'add' ? before | flags.bits : before & ~flags.bits;
  const areNamed = flags.keywords.length > 0 || mode === 'replace';
  const deletedIn = flags.isDeleted || mode === 'replace' ? folderId : undefined;
  const mayShare = deletedIn === undefined && slots.length > 0;
  const shared = mayShare ? tx.sharedFlags(slots) : undefined;
  const sharedKeywords = shared !== undefined && areNamed ? tx.sharedKeywords(slots) : undefined;
  if (shared !== undefined && areNamed === (sharedKeywords !== undefined)) {
    const bits = bitsOf(shared);
    const keywords = sharedKeywords && changedKeywords(sharedKeywords, flags.keywords, mode);
    if (bits === shared && keywords === undefined) return 0;
    tx.begin();
    const named = keywords === undefined ? {} : { keywords: inKeywordOrder(keywords) };
    tx.setAlike(slots, { flags: bits, changed: bits ^ shared, ...named });
    if (((bits ^ shared) & SEEN) !== 0) tx.announceUnread({ always: true });
    return slots.length;
  }
  const marked: number[] = [];
  const changes = new Map<string | number, FlagsOfSlots>();
  let key: string | number | undefined;
  let change: FlagsOfSlots | undefined;
  let changed = 0;
  let isSeenChanged = false;
  for (const slot of slots) {
    const before = tx.flags(slot);
    const bits = bitsOf(before);
    const keywords = areNamed ? changedKeywords(tx.keywords(slot), flags.keywords, mode) : undefined;
    const isMarked = deletedIn !== undefined && changesDeleted(tx.isDeleted(slot, deletedIn), flags, mode);
    const isFlagged = bits !== before || keywords !== undefined;
    if (isMarked) marked.push(slot);
    if (isMarked || isFlagged) changed++;
    if (!isFlagged) continue;
    isSeenChanged ||= ((bits ^ before) & SEEN) !== 0;
    const ofSlot = keywords === undefined ? before : `${bits} ${keywords.join(' ')}`;
    // Neighbours mostly get the same flags, so the last change is tried first.
    if (change === undefined || ofSlot !== key) {
      key = ofSlot;
      change = changes.get(key);
      if (change === undefined) {
        const alike = { bits, changed: bits ^ before, slots: [] };
        change = keywords === undefined ? alike : { ...alike, keywords };
        changes.set(key, change);
      }
    }
    change.slots.push(slot);
  }
  if (changed === 0) return 0;
  tx.begin();
  for (const all of changes.values()) {
    if (all.keywords === undefined) tx.setAlike(all.slots, { flags: all.bits, changed: all.changed });
    else tx.setFlags(all.slots, all.bits, all.keywords);
  }
  if (folderId !== undefined) tx.setDeleted(marked, folderId, mode === 'replace' ? flags.isDeleted : mode === 'add');
  if (isSeenChanged || marked.length > 0) tx.announceUnread({ always: true });
  return changed;
}

function changesDeleted(isDeleted: boolean, flags: FlagSet, mode: Mode): boolean {
  if (mode === 'replace') return isDeleted !== flags.isDeleted;
  return flags.isDeleted && isDeleted !== (mode === 'add');
}

/** Undefined when they stay. */
function changedKeywords(before: readonly string[], named: readonly string[], mode: Mode): string[] | undefined {
  const isNamed = isAmong(named);
  if (mode === 'remove') {
    const kept = before.filter((name) => !isNamed(name));
    return kept.length === before.length ? undefined : kept;
  }
  const isThere = isAmong(before);
  const added = named.filter((name) => !isThere(name));
  const kept = mode === 'add' ? before : before.filter(isNamed);
  return added.length === 0 && kept.length === before.length ? undefined : [...kept, ...added];
}

function isAmong(names: readonly string[]): (name: string) => boolean {
  const folded = new Set(names.map((name) => name.toLowerCase()));
  return (name) => folded.has(name.toLowerCase());
}
