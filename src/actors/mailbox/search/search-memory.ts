// The search cache of one mailbox: the order of its emails by time, and which emails matched the last queries, one bit per email. The words
// of an email never change, so a repeated query only asks for new emails.
import { lruCache } from '../../../concurrency/lru-cache.js';
import type { SearchField, SearchTerm } from '../../../mail-format/words/search-text.js';
import type { SearchPart, SearchStore } from '../../../store/search.js';
import type { EmailColumns } from '../state/email-columns.js';
import { TimeOrder } from '../state/time-order.js';
import { type FieldTerms, haveTerms } from './field-terms.js';

const REMEMBERED = 32;
const REMEMBERED_PAGES = 200;
/** With more new emails than this, the query runs over all segments again. */
const FEW = 300;

/** Terms that must all match in this part of an email, or in this field of its header. */
export interface TextQuestion {
  readonly terms: readonly SearchTerm[];
  readonly part: SearchPart | SearchField;
}

export type MatchStore = Pick<SearchStore, 'matches' | 'fieldTexts'>;

/** The slots that match, among those that the mailbox had when the query ran. */
export interface TextMatches {
  readonly size: number;
  readonly count: number;
  has(slot: number): boolean;
  /** Ascending. */
  slots(): Uint32Array;
}

/** A page of the result, and the counts of all matches. */
export interface FoundPage {
  readonly totalCount: number;
  readonly unreadCount: number;
  /** Newest first. */
  readonly slots: readonly number[];
}

class Bits implements TextMatches {
  readonly size: number;
  count = 0;
  readonly #octets: Uint8Array;

  constructor(size: number, start?: Bits) {
    this.size = size;
    this.#octets = new Uint8Array((size >>> 3) + 1);
    if (start === undefined) return;
    this.#octets.set(start.#octets);
    this.count = start.count;
  }

  has(slot: number): boolean {
    return slot < this.size && (this.#octets[slot >>> 3]! & (1 << (slot & 7))) !== 0;
  }

  add(slot: number): void {
    if (slot >= this.size || this.has(slot)) return;
    this.#octets[slot >>> 3]! |= 1 << (slot & 7);
    this.count++;
  }

  slots(): Uint32Array {
    const slots = new Uint32Array(this.count);
    let count = 0;
    for (let at = 0; at < this.#octets.length; at++) {
      if (this.#octets[at] === 0) continue;
      for (let slot = at * 8; slot < at * 8 + 8; slot++) if (this.has(slot)) slots[count++] = slot;
    }
    return slots;
  }
}

export class SearchMemory {
  readonly order: TimeOrder;
  readonly #emails: EmailColumns;
  readonly #matches = lruCache<string, Promise<Bits>>(REMEMBERED);
  readonly #pages = new Map<string, FoundPage>();
  #pagesAt = 0;

  constructor(emails: EmailColumns) {
    this.#emails = emails;
    this.order = new TimeOrder(emails);
  }

  get octets(): number {
    return this.order.octets + (this.#matches.size * this.#emails.size) / 8;
  }

  /** The page that the same query got, if the mailbox has not changed since. */
  page(modseq: number, question: string): FoundPage | undefined {
    return modseq === this.#pagesAt ? this.#pages.get(question) : undefined;
  }

  keepPage(modseq: number, question: string, page: FoundPage): void {
    if (modseq !== this.#pagesAt || this.#pages.size >= REMEMBERED_PAGES) this.#pages.clear();
    this.#pagesAt = modseq;
    this.#pages.set(question, page);
  }

  /** Finds matches among the first `size` emails, which must be searchable. */
  async matching(
    store: MatchStore,
    accountId: string,
    { terms, part }: TextQuestion,
    size: number,
  ): Promise<TextMatches> {
    const key = JSON.stringify([terms, part]);
    let matches: Bits | undefined;
    try {
      matches = await this.#matches.get(key);
    } catch {
      // The store is asked again.
    }
    if (matches !== undefined && matches.size >= size) return matches;
    const asked = this.#ask(store, accountId, { terms, part }, matches, size);
    this.#matches.set(key, asked);
    asked.catch(() => {
      if (this.#matches.peek(key) === asked) this.#matches.delete(key);
    });
    return asked;
  }

  async #ask(
    store: MatchStore,
    accountId: string,
    { terms, part }: TextQuestion,
    before: Bits | undefined,
    size: number,
  ): Promise<Bits> {
    const first = before?.size ?? 0;
    const isFew = size - first <= FEW;
    const after = first === 0 ? NO_ID : this.#emails.id(first - 1);
    const isField = part !== 'text' && part !== 'body';
    const { ids } = await store.matches(accountId, terms, isField ? 'text' : part, isFew ? after : undefined);
    const bits = new Bits(size, isFew ? before : undefined);
    if (isField) await this.#addConfirmed(store, accountId, { terms, field: part }, ids, bits);
    else this.#emails.eachSlot(ids, (slot) => bits.add(slot));
    return bits;
  }

  /** Adds those of the emails that have the terms in the field: the index tells only that they have them somewhere. */
  async #addConfirmed(
    store: MatchStore,
    accountId: string,
    question: FieldTerms,
    ids: Uint8Array,
    bits: Bits,
  ): Promise<void> {
    const slots: number[] = [];
    this.#emails.eachSlot(ids, (slot) => slot < bits.size && !bits.has(slot) && slots.push(slot));
    const emailIds = slots.map((slot) => this.#emails.id(slot));
    const confirmed = await haveTerms(store, accountId, question, emailIds);
    for (const [i, slot] of slots.entries()) if (confirmed.has(emailIds[i]!)) bits.add(slot);
  }
}

const NO_ID = '00000000-0000-0000-0000-000000000000';
