// The emails of a transaction: their existence and flags as if the batch so far were committed. An email that the batch adds has the slot
// that it gets when the whole batch is committed.
import { uuidOctets } from '../../../mail-format/ids.js';
import { PackedIds } from '../../../mail-format/packed-ids.js';
import type { ChangeOf, NewEmail } from '../../../store/changes/changes.js';
import type { Usage } from '../../../store/limits/quotas.js';
import { areSameKeywords } from './keyword-order.js';
import type { MailboxState } from './state.js';

/** A change of at least this many emails stores their flags in one shared entry. */
const LEAST_SHARED = 100;
const MOST_SHARED = 0xffff;

interface Flags {
  readonly flags: number;
  /** Undefined when the batch has not changed them. */
  readonly keywords: readonly string[] | undefined;
  readonly modseq: number;
}

export class EmailChanges {
  readonly #state: MailboxState;
  readonly #added: (NewEmail & { readonly modseq: number })[] = [];
  readonly #addedSlots = new Map<string, number>();
  readonly #flags = new Map<number, Flags>();
  /** Flags that many emails got at once. */
  readonly #shared: Flags[] = [];
  /** For each slot the 1-based position in `#shared`; 0 when there is none, or when `#flags` has newer flags. */
  #sharedAt: Uint16Array | undefined;
  /** Slots whose flags are the first of `#shared` and are not in `#sharedAt` yet: mostly the batch ends before they are read. */
  #unsharedSlots: readonly number[] | undefined;
  readonly #removed = new Set<number>();
  /** Octets of the messages that the batch adds, without those that it removes. */
  #addedBytes = 0;
  /** The first slot that the batch adds; slots below belong to the state. */
  readonly #firstAdded: number;

  constructor(state: MailboxState) {
    this.#state = state;
    this.#firstAdded = state.emails.size;
  }

  /** The slot of an email that exists after the batch so far, or -1. */
  find(id: string): number {
    const slot = this.#addedSlots.get(id) ?? this.#state.emails.find(id);
    return this.#removed.has(slot) ? -1 : slot;
  }

  id(slot: number): string {
    return this.#addedAt(slot)?.id ?? this.#state.emails.id(slot);
  }

  /** `slots` must not be changed afterwards: when the batch has added no email, the ids are written on first use. */
  packedIds(slots: readonly number[]): PackedIds {
    const { emails } = this.#state;
    if (this.#added.length === 0) return new PackedIds(() => emails.packedIds(slots), slots.length);
    const octets = new Uint8Array(slots.length * 16);
    const view = new DataView(octets.buffer);
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      if (slot < this.#firstAdded) emails.writeId(slot, view, i * 16);
      else octets.set(uuidOctets(this.#addedAt(slot)!.id), i * 16);
    }
    return new PackedIds(octets);
  }

  /** Returns the email as the batch has added it; undefined for others. */
  added(id: string): NewEmail | undefined {
    return this.#addedAt(this.#addedSlots.get(id) ?? -1);
  }

  flags(slot: number): number {
    const known = this.#changedAt(slot) ?? this.#addedAt(slot);
    return known?.flags ?? this.#state.emails.flags(slot);
  }

  /** Returns the flags when all these emails have the same; undefined otherwise. */
  sharedFlags(slots: readonly number[]): number | undefined {
    if (this.#isUnchanged) return this.#state.emails.sharedFlags(slots);
    const flags = this.flags(slots[0]!);
    for (const slot of slots) if (this.flags(slot) !== flags) return undefined;
    return flags;
  }

  /** Returns the keywords when all these emails have the same; undefined otherwise. */
  sharedKeywords(slots: readonly number[]): readonly string[] | undefined {
    if (this.#isUnchanged) return this.#state.emails.sharedKeywords(slots);
    const keywords = this.keywords(slots[0]!);
    for (const slot of slots) if (!areSameKeywords(this.keywords(slot), keywords)) return undefined;
    return keywords;
  }

  /** True when the batch has changed no flags and added no email. */
  get #isUnchanged(): boolean {
    return this.#flags.size + this.#shared.length + this.#added.length === 0;
  }

  keywords(slot: number): readonly string[] {
    const changed = this.#changedAt(slot)?.keywords ?? this.#addedAt(slot)?.keywords;
    return changed ?? this.#state.emails.keywords(slot);
  }

  /** Keywords of the account by their lower-case names, in the spelling that was used first. */
  keywordNames(): ReadonlyMap<string, string> {
    const names = new Map(this.#state.emails.keywordNames.map((name) => [name.toLowerCase(), name]));
    for (const { keywords = [] } of [...this.#added, ...this.#shared, ...this.#flags.values()]) {
      for (const name of keywords) if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
    }
    return names;
  }

  /** The modseq of the email's last change. */
  modseq(slot: number): number {
    const known = this.#changedAt(slot) ?? this.#addedAt(slot);
    return known?.modseq ?? this.#state.emails.modseq(slot);
  }

  sizeOf(slot: number): number {
    return this.#addedAt(slot)?.size ?? this.#state.emails.sizeOf(slot);
  }

  receivedAt(slot: number): number {
    return this.#addedAt(slot)?.receivedAt ?? this.#state.emails.receivedAt(slot);
  }

  /** Emails with this Message-Id that the batch has added, newest first. */
  addedWith(messageId: string): NewEmail[] {
    return this.#added.filter((email) => email.messageId === messageId).reverse();
  }

  /** What the mailbox uses after the batch so far. */
  get usage(): Usage {
    const { bytes, messages } = this.#state.emails.usage;
    return { bytes: bytes + this.#addedBytes, messages: messages + this.#added.length - this.#removed.size };
  }

  /** One more than the last slot, including those of the batch. */
  get size(): number {
    return this.#firstAdded + this.#added.length;
  }

  /** Returns the slot of the new email. */
  add(email: NewEmail, modseq: number): number {
    const slot = this.size;
    this.#added.push({ modseq, ...email });
    this.#addedBytes += email.size;
    this.#addedSlots.set(email.id, slot);
    return slot;
  }

  /** `slots` must not be changed afterwards. */
  setFlags({ payload: { flags, keywords }, seq: modseq }: ChangeOf<'FlagsChanged'>, slots: readonly number[]): void {
    const shared = { flags, keywords, modseq };
    this.#share();
    const isFirst = this.#flags.size === 0 && this.#sharedAt === undefined;
    const isShared = slots.length >= LEAST_SHARED && this.#shared.length < MOST_SHARED;
    if (isShared) this.#shared.push(shared);
    if (isShared && isFirst && this.#added.length === 0) {
      this.#unsharedSlots = slots;
      return;
    }
    for (const slot of slots) {
      const known = keywords === undefined && !isFirst ? this.#changedAt(slot)?.keywords : undefined;
      if (isShared && known === undefined && slot < this.#firstAdded) {
        this.#sharedAt ??= new Uint16Array(this.#firstAdded);
        this.#sharedAt[slot] = this.#shared.length;
        if (!isFirst) this.#flags.delete(slot);
      } else {
        this.#flags.set(slot, known === undefined ? shared : { flags, keywords: known, modseq });
        if (this.#sharedAt !== undefined) this.#sharedAt[slot] = 0;
      }
    }
  }

  #share(): void {
    const slots = this.#unsharedSlots;
    if (slots === undefined) return;
    this.#unsharedSlots = undefined;
    const sharedAt = new Uint16Array(this.#firstAdded);
    for (const slot of slots) sharedAt[slot] = 1;
    this.#sharedAt = sharedAt;
  }

  /** Undefined when the batch has not changed the flags. */
  #changedAt(slot: number): Flags | undefined {
    this.#share();
    const number = this.#sharedAt?.[slot] ?? 0;
    if (number !== 0) return this.#shared[number - 1];
    return this.#flags.size === 0 ? undefined : this.#flags.get(slot);
  }

  /** Undefined for emails of the state. Reads no negative index, because V8 makes such a look-up slow. */
  #addedAt(slot: number): (NewEmail & { readonly modseq: number }) | undefined {
    return slot < this.#firstAdded ? undefined : this.#added[slot - this.#firstAdded];
  }

  remove(slot: number): void {
    if (this.#removed.has(slot)) return;
    this.#removed.add(slot);
    this.#addedBytes -= this.sizeOf(slot);
  }
}
