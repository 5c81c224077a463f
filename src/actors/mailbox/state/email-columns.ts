// The emails of one mailbox as columns: 30 bytes per email instead of an object each. A slot is an email's stable number in memory. Slots
// rise with ids, because ids rise with time, so a binary search finds an id. A removed email leaves a dead slot until the mailbox is loaded
// again.
import { uuidText, uuidWords } from '../../../mail-format/ids.js';
import type { Usage } from '../../../store/limits/quotas.js';
import type { EmailPage } from '../../../store/mailboxes.js';
import { KeywordColumns } from './keyword-columns.js';
import { RecentChanges } from './recent-changes.js';
import { ARRAY_OCTETS } from './sparse-column.js';
import { grownCapacity, NO_NUMBERS, resized, WIDE_LIMIT, WideColumn } from './wide-column.js';

const NO_FLAGS = new Uint16Array(0);
const ALIVE = 0x8000;
const HAS_ATTACHMENTS = 0x4000;
const FLAGS = 0x3fff;
/**
 * `receivedAt` is stored as its distance from the time in the email's id, modulo 2^48. Distances of up to 24 days in either direction are
 * below 2^32, which takes 4 bytes.
 */
const DISTANCE_BIAS = 2 ** 31;
/** Approximate memory of the columns' objects. */
const OBJECT_OCTETS = 250;
/** The first of the times that are stored exactly, in 1935; the last is in the year 10854. */
const EARLIEST = -(2 ** 40);

interface AppendedEmail {
  readonly id: string;
  readonly flags: number;
  readonly keywords: readonly string[];
  readonly receivedAt: number;
  readonly size: number;
  readonly modseq: number;
  readonly hasAttachments: boolean;
}

/** Scratch space for the id that is converted to text. */
const ID_OCTETS = new Uint8Array(16);
const ID = new DataView(ID_OCTETS.buffer);

export class EmailColumns {
  #size = 0;
  #dead = 0;
  /** Octets of the messages of the living emails. */
  #bytes = 0;
  #capacity = 0;
  #ids: Uint32Array = NO_NUMBERS;
  #flags: Uint16Array = NO_FLAGS;
  readonly #receivedAt = new WideColumn();
  readonly #sizes = new WideColumn();
  readonly #modseqs = new WideColumn();
  readonly #keywords = new KeywordColumns();
  #highestModseq = 0;
  /** Created on first use. */
  #recent: RecentChanges | undefined;

  /** Slots in use, including dead ones; also the slot of the next email. */
  get size(): number {
    return this.#size;
  }

  get dead(): number {
    return this.#dead;
  }

  /** The living emails, and the octets of their messages. */
  get usage(): Usage {
    return { bytes: this.#bytes, messages: this.#size - this.#dead };
  }

  get octets(): number {
    const wide = this.#receivedAt.octets + this.#sizes.octets + this.#modseqs.octets;
    return (
      OBJECT_OCTETS +
      this.#capacity * 18 +
      ARRAY_OCTETS * 2 +
      wide +
      this.#keywords.octets +
      (this.#recent?.octets ?? 0)
    );
  }

  /** Appends a page of loaded emails; the ids are ascending and above all previous ones. */
  load(page: EmailPage): void {
    const ids = new DataView(page.ids.buffer, page.ids.byteOffset, page.ids.byteLength);
    this.#reserve(this.#size + page.count);
    for (let i = 0; i < page.count; i++) {
      const slot = this.#size++;
      for (let w = 0; w < 4; w++) this.#ids[slot * 4 + w] = ids.getUint32(i * 16 + w * 4);
      this.#fill(
        slot,
        page.flags[i]!,
        page.receivedAt[i]!,
        page.sizes[i]!,
        page.modseqs[i]!,
        page.hasAttachments[i] === 1,
      );
    }
  }

  /** Gives a loaded email its keywords. */
  loadKeywords(slot: number, names: readonly string[]): void {
    this.#keywords.set(slot, names);
  }

  /** Releases reserved memory that is not in use. */
  trim(): void {
    this.#resize(this.#size);
  }

  /** Returns the new email's slot; its id must be above all previous ids. */
  append({ id, flags, keywords, receivedAt, size, modseq, hasAttachments }: AppendedEmail): number {
    const words = uuidWords(id);
    this.#reserve(this.#size + 1);
    const slot = this.#size++;
    this.#ids.set(words, slot * 4);
    this.#fill(slot, flags, receivedAt, size, modseq, hasAttachments);
    this.#keywords.set(slot, keywords);
    return slot;
  }

  /** The slot of a live email, or -1. `id` must be a UUID. */
  find(id: string): number {
    return this.#findWords(uuidWords(id));
  }

  #findWords(words: readonly number[]): number {
    const slot = this.#last(words);
    return slot >= 0 && this.isAlive(slot) && this.#compare(slot, words) === 0 ? slot : -1;
  }

  /** Calls back with the slot and the position of each id of a packed list that exists; fast when the ids are mostly in order. */
  eachSlot(packed: Uint8Array, found: (slot: number, position: number) => void): void {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    let next = 0;
    for (let at = 0; at + 16 <= packed.length; at += 16) {
      const slot = this.#findFrom(
        next,
        view.getUint32(at),
        view.getUint32(at + 4),
        view.getUint32(at + 8),
        view.getUint32(at + 12),
      );
      if (slot < 0 || !this.isAlive(slot)) continue;
      found(slot, at / 16);
      next = slot + 1;
    }
  }

  /** Returns the slot of the id, dead or alive, or -1. Searches near `from` first, in steps that double, without allocations. */
  #findFrom(from: number, a: number, b: number, c: number, d: number): number {
    if (from < this.#size && this.#difference(from, a, b, c, d) === 0) return from;
    let low = 0;
    let high = from;
    if (from === 0 || this.#difference(from - 1, a, b, c, d) < 0) {
      low = from;
      high = from + 1;
      for (let step = 1; high < this.#size && this.#difference(high - 1, a, b, c, d) < 0; step *= 2) {
        low = high;
        high += step;
      }
      high = Math.min(high, this.#size);
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      const difference = this.#difference(middle, a, b, c, d);
      if (difference === 0) return middle;
      if (difference < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Negative when the slot's id is below these words, 0 when they are equal. */
  #difference(slot: number, a: number, b: number, c: number, d: number): number {
    const at = slot * 4;
    const ids = this.#ids;
    return ids[at]! - a || ids[at + 1]! - b || ids[at + 2]! - c || ids[at + 3]! - d;
  }

  /** The last slot, including dead ones, whose id is not above this one; -1 when there is none. */
  lastUpTo(id: string): number {
    return this.#last(uuidWords(id));
  }

  id(slot: number): string {
    this.writeId(slot, ID, 0);
    return uuidText(ID_OCTETS);
  }

  /** Returns four words per id (mail/ids `uuidWords`). */
  idWords(slots: Uint32Array): Uint32Array {
    const words = new Uint32Array(slots.length * 4);
    for (let i = 0; i < slots.length; i++) words.set(this.#ids.subarray(slots[i]! * 4, slots[i]! * 4 + 4), i * 4);
    return words;
  }

  /** Returns 16 octets per id. */
  packedIds(slots: readonly number[]): Uint8Array {
    const octets = new Uint8Array(slots.length * 16);
    const view = new DataView(octets.buffer);
    for (let i = 0; i < slots.length; i++) this.writeId(slots[i]!, view, i * 16);
    return octets;
  }

  /** Writes the 16 octets of the id. */
  writeId(slot: number, into: DataView, offset: number): void {
    for (let w = 0; w < 4; w++) into.setUint32(offset + w * 4, this.#ids[slot * 4 + w]!);
  }

  /** ms since the epoch in the id of the newest slot; 0 when there is none. */
  get newestIdTime(): number {
    return this.#size === 0 ? 0 : this.#idTime(this.#size - 1);
  }

  /** The 12 bits after the version in the id of the newest slot. */
  get newestIdSequence(): number {
    return this.#size === 0 ? 0 : this.#ids[(this.#size - 1) * 4 + 1]! & 0xfff;
  }

  flags(slot: number): number {
    return this.#flags[slot]! & FLAGS;
  }

  /** Returns the flags when all these emails have the same; undefined otherwise. */
  sharedFlags(slots: readonly number[]): number | undefined {
    const column = this.#flags;
    const flags = column[slots[0]!]! & FLAGS;
    for (const slot of slots) if ((column[slot]! & FLAGS) !== flags) return undefined;
    return flags;
  }

  /** Names of the email's keywords, in the order of their lower-case forms. */
  keywords(slot: number): string[] {
    return this.#keywords.of(slot);
  }

  /** Returns the keywords when all these emails have the same; undefined otherwise. */
  sharedKeywords(slots: readonly number[]): readonly string[] | undefined {
    return this.#keywords.shared(slots);
  }

  /** Returns the sets of keywords that these emails have; `at`: positions in the list, ascending. Emails without keywords are in no set. */
  keywordSets(slots: Uint32Array): { readonly names: readonly string[]; readonly at: readonly number[] }[] {
    return this.#keywords.setsOf(slots);
  }

  hasKeyword(slot: number, name: string): boolean {
    return this.#keywords.has(slot, name);
  }

  /** Every keyword that an email of the mailbox has. */
  get keywordNames(): string[] {
    return this.#keywords.names;
  }

  /** The keyword in the spelling that was used first; undefined when no email has it. */
  keywordSpelling(name: string): string | undefined {
    return this.#keywords.spelling(name);
  }

  /** ms since the epoch. */
  receivedAt(slot: number): number {
    const distance = this.#receivedAt.get(slot) - DISTANCE_BIAS;
    return modulo(this.#idTime(slot) - distance - EARLIEST) + EARLIEST;
  }

  /** Octets of the message. */
  sizeOf(slot: number): number {
    return this.#sizes.get(slot);
  }

  modseq(slot: number): number {
    return this.#modseqs.get(slot);
  }

  /** Slots of emails that changed after this modseq, possibly with duplicates; undefined when not all of them are known. */
  changedAfter(modseq: number): number[] | undefined {
    this.#recent ??= new RecentChanges(this.#highestModseq);
    return this.#recent.after(modseq);
  }

  isAlive(slot: number): boolean {
    return (this.#flags[slot]! & ALIVE) !== 0;
  }

  hasAttachments(slot: number): boolean {
    return (this.#flags[slot]! & HAS_ATTACHMENTS) !== 0;
  }

  /** `keywords`: all keywords of the email, when they change. */
  setFlags(slot: number, flags: number, keywords: readonly string[] | undefined, modseq: number): void {
    this.#flags[slot] = (this.#flags[slot]! & ~FLAGS) | (flags & FLAGS);
    this.#changed(slot, modseq);
    if (keywords !== undefined) this.#keywords.set(slot, keywords);
  }

  /** Gives many emails the same flags; their keywords stay. */
  setFlagsOfAll(slots: readonly number[], flags: number, modseq: number): void {
    const column = this.#flags;
    const given = flags & FLAGS;
    for (const slot of slots) column[slot] = (column[slot]! & ~FLAGS) | given;
    this.#modseqs.setAll(slots, modseq);
    this.#highestModseq = Math.max(this.#highestModseq, modseq);
    this.#recent?.addAll(slots, modseq);
  }

  setKeywordsOfAll(slots: readonly number[], names: readonly string[]): void {
    this.#keywords.setAll(slots, names);
  }

  kill(slot: number): void {
    if (!this.isAlive(slot)) return;
    this.#flags[slot]! &= ~ALIVE;
    this.#keywords.set(slot, []);
    this.#dead++;
    this.#bytes -= this.#sizes.get(slot);
  }

  #fill(slot: number, flags: number, receivedAt: number, size: number, modseq: number, hasAttachments: boolean): void {
    this.#flags[slot] = (flags & FLAGS) | ALIVE | (hasAttachments ? HAS_ATTACHMENTS : 0);
    const time = Math.min(Math.max(Math.round(receivedAt), EARLIEST), EARLIEST + WIDE_LIMIT - 1);
    this.#receivedAt.set(slot, modulo(this.#idTime(slot) - time + DISTANCE_BIAS));
    this.#sizes.set(slot, size);
    this.#bytes += size;
    this.#changed(slot, modseq);
  }

  #changed(slot: number, modseq: number): void {
    this.#modseqs.set(slot, modseq);
    this.#highestModseq = Math.max(this.#highestModseq, modseq);
    this.#recent?.add(slot, modseq);
  }

  /** ms since the epoch in the email's id. */
  #idTime(slot: number): number {
    return this.#ids[slot * 4]! * 0x10000 + (this.#ids[slot * 4 + 1]! >>> 16);
  }

  #last(words: readonly number[]): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, words) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #compare(slot: number, words: readonly number[]): number {
    for (let w = 0; w < 4; w++) {
      const difference = this.#ids[slot * 4 + w]! - words[w]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #reserve(size: number): void {
    if (size > this.#capacity) this.#resize(grownCapacity(this.#capacity, size));
  }

  #resize(capacity: number): void {
    this.#capacity = capacity;
    this.#ids = resized(this.#ids, capacity * 4);
    this.#flags = resized(this.#flags, capacity);
    for (const column of [this.#receivedAt, this.#sizes, this.#modseqs]) column.resize(capacity);
  }
}

/** Returns the remainder from 0 to 2^48 - 1. */
function modulo(number: number): number {
  const rest = number % WIDE_LIMIT;
  return rest < 0 ? rest + WIDE_LIMIT : rest;
}
