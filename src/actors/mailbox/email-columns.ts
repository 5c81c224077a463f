// The emails of one mailbox as columns: about 35 octets an email instead of an object each. A slot is an email's stable
// number in memory; slots rise with ids, because ids rise with time, so an id is found by binary search. A removed
// email leaves a dead slot behind until the mailbox is loaded again.
import { uuidOctets, uuidText } from '../../mail/ids.js';
import type { LoadedEmails } from '../../store/mailboxes.js';

const FIRST_CAPACITY = 64;
const SLOT_OCTETS = 16 + 2 + 8 + 8 + 1;
const ALIVE = 1;
const HAS_ATTACHMENTS = 2;

export class EmailColumns {
  /** Slots in use, dead ones included. */
  size = 0;
  dead = 0;
  #ids = new Uint32Array(FIRST_CAPACITY * 4);
  #flags = new Uint16Array(FIRST_CAPACITY);
  #receivedAt = new Float64Array(FIRST_CAPACITY);
  #modseq = new Float64Array(FIRST_CAPACITY);
  #marks = new Uint8Array(FIRST_CAPACITY);

  get octets(): number {
    return this.#marks.length * SLOT_OCTETS;
  }

  /** Appends a page of loaded emails, ids ascending and above all before. */
  load(page: LoadedEmails): void {
    const ids = new DataView(page.ids.buffer, page.ids.byteOffset, page.ids.byteLength);
    this.#reserve(this.size + page.count);
    for (let i = 0; i < page.count; i++) {
      const slot = this.size++;
      for (let w = 0; w < 4; w++) this.#ids[slot * 4 + w] = ids.getUint32(i * 16 + w * 4);
      this.#flags[slot] = page.flags[i]!;
      this.#receivedAt[slot] = page.receivedAt[i]!;
      this.#modseq[slot] = page.modseq[i]!;
      this.#marks[slot] = ALIVE | (page.hasAttachments[i] === 1 ? HAS_ATTACHMENTS : 0);
    }
  }

  /** The new email's slot; its id must be above every id before. */
  append(id: string, flags: number, receivedAt: number, modseq: number, hasAttachments: boolean): number {
    const octets = uuidOctets(id);
    this.#reserve(this.size + 1);
    const slot = this.size++;
    for (let w = 0; w < 4; w++) this.#ids[slot * 4 + w] = octets.readUInt32BE(w * 4);
    this.#flags[slot] = flags;
    this.#receivedAt[slot] = receivedAt;
    this.#modseq[slot] = modseq;
    this.#marks[slot] = ALIVE | (hasAttachments ? HAS_ATTACHMENTS : 0);
    return slot;
  }

  /** The slot of a live email, or -1. `id` must be a UUID. */
  find(id: string): number {
    return this.findOctets(uuidOctets(id), 0);
  }

  findOctets(octets: Uint8Array, offset: number): number {
    const words = wordsOf(octets, offset);
    const slot = this.#last(words);
    return slot >= 0 && this.isAlive(slot) && this.#compare(slot, words) === 0 ? slot : -1;
  }

  /** Calls back with the slot of each id of a packed list that is there; fast when they are mostly in order. */
  eachSlot(packed: Uint8Array, found: (slot: number) => void): void {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    const ids = this.#ids;
    let next = 0;
    for (let at = 0; at + 16 <= packed.length; at += 16) {
      const isNext =
        next < this.size &&
        ids[next * 4] === view.getUint32(at) &&
        ids[next * 4 + 1] === view.getUint32(at + 4) &&
        ids[next * 4 + 2] === view.getUint32(at + 8) &&
        ids[next * 4 + 3] === view.getUint32(at + 12) &&
        this.isAlive(next);
      const slot = isNext ? next : this.findOctets(packed, at);
      if (slot < 0) continue;
      found(slot);
      next = slot + 1;
    }
  }

  /** The last slot, dead ones included, whose id is not above this one; -1 when there is none. */
  lastUpTo(id: string): number {
    return this.#last(wordsOf(uuidOctets(id), 0));
  }

  id(slot: number): string {
    const octets = Buffer.alloc(16);
    for (let w = 0; w < 4; w++) octets.writeUInt32BE(this.#ids[slot * 4 + w]!, w * 4);
    return uuidText(octets);
  }

  /** ms since the epoch in the id of the newest slot; 0 when there is none. */
  get newestIdTime(): number {
    if (this.size === 0) return 0;
    const at = (this.size - 1) * 4;
    return this.#ids[at]! * 0x10000 + (this.#ids[at + 1]! >>> 16);
  }

  /** The 12 bits after the version in the id of the newest slot. */
  get newestIdSequence(): number {
    return this.size === 0 ? 0 : this.#ids[(this.size - 1) * 4 + 1]! & 0xfff;
  }

  flags(slot: number): number {
    return this.#flags[slot]!;
  }

  receivedAt(slot: number): number {
    return this.#receivedAt[slot]!;
  }

  isAlive(slot: number): boolean {
    return (this.#marks[slot]! & ALIVE) !== 0;
  }

  hasAttachments(slot: number): boolean {
    return (this.#marks[slot]! & HAS_ATTACHMENTS) !== 0;
  }

  setFlags(slot: number, flags: number, modseq: number): void {
    this.#flags[slot] = flags;
    this.#modseq[slot] = modseq;
  }

  kill(slot: number): void {
    if (!this.isAlive(slot)) return;
    this.#marks[slot]! &= ~ALIVE;
    this.dead++;
  }

  #last(words: readonly number[]): number {
    let low = 0;
    let high = this.size;
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
    if (size <= this.#marks.length) return;
    const capacity = Math.max(size, Math.ceil(this.#marks.length * 1.5));
    this.#ids = grown(new Uint32Array(capacity * 4), this.#ids);
    this.#flags = grown(new Uint16Array(capacity), this.#flags);
    this.#receivedAt = grown(new Float64Array(capacity), this.#receivedAt);
    this.#modseq = grown(new Float64Array(capacity), this.#modseq);
    this.#marks = grown(new Uint8Array(capacity), this.#marks);
  }
}

function wordsOf(octets: Uint8Array, offset: number): readonly number[] {
  const view = new DataView(octets.buffer, octets.byteOffset + offset, 16);
  return [view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)];
}

export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(into: T, from: T): T {
  into.set(from);
  return into;
}
