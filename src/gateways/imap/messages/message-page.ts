// A page of the cache: the messages of a folder with adjacent UIDs, as far as they were read. Dropping a part replaces the page
// by one without the part, so whoever holds the old page still has all its parts.
import { textCharset } from '../../../mail-format/header/field-text.js';
import type { MessageIndex } from '../../../mail-format/message-index.js';
import type { FolderMessageRow } from '../../../store/folder-messages.js';
import type { Message, MessageNeeds } from './message.js';
import { PageFacts } from './page-facts.js';
import { PagePart, type PartKind } from './page-part.js';
import { PageSources } from './page-sources.js';
import { PageTexts } from './page-texts.js';

/** UIDs per page. */
export const PAGE_UIDS = 128;

export type AnyPart = PagePart<PageFacts | PageSources | PageTexts>;

/** Counts the octets of the parts. */
export interface PartKeeper {
  /** Called when the page has a new part. */
  keep(page: MessagePage, part: AnyPart): void;
  used(part: AnyPart): void;
  grown(part: AnyPart, octets: number): void;
}

/** The numbers of the messages in the parts of a page, in the order in which the messages were read. */
class PageNumbers {
  /** number + 1 by UID; 0 for a message that was not read. */
  readonly #numbers = new Uint8Array(PAGE_UIDS);
  #count = 0;

  /** Returns -1 for a message that was not read. */
  of(uid: number): number {
    return this.#numbers[uid % PAGE_UIDS]! - 1;
  }

  make(uid: number): number {
    const at = uid % PAGE_UIDS;
    if (this.#numbers[at] === 0) this.#numbers[at] = ++this.#count;
    return this.#numbers[at]! - 1;
  }
}

export class MessagePage {
  readonly accountId: string;
  readonly key: string;
  /** Settles when the statement that reads the page has ended; undefined when none runs. */
  loading: Promise<void> | undefined;
  readonly #keeper: PartKeeper;
  readonly #numbers: PageNumbers;
  #facts: PagePart<PageFacts> | undefined;
  #sources: PagePart<PageSources> | undefined;
  /** The texts by name. */
  #texts = new Map<string, PagePart<PageTexts>>();

  constructor(accountId: string, key: string, keeper: PartKeeper, numbers = new PageNumbers()) {
    this.accountId = accountId;
    this.key = key;
    this.#keeper = keeper;
    this.#numbers = numbers;
  }

  get parts(): readonly AnyPart[] {
    return [this.#facts, this.#sources, ...this.#texts.values()].filter((part) => part !== undefined);
  }

  without(part: AnyPart): MessagePage {
    const page = new MessagePage(this.accountId, this.key, this.#keeper, this.#numbers);
    if (part !== this.#facts) page.#facts = this.#facts;
    if (part !== this.#sources) page.#sources = this.#sources;
    page.#texts = new Map(this.#texts);
    if (part.kind === 'texts') page.#texts.delete(part.name);
    return page;
  }

  /** Marks the parts that are needed as used. */
  use(needs: MessageNeeds): void {
    if (needs.facts !== false && this.#facts !== undefined) this.#keeper.used(this.#facts);
    this.#useFor(needs.header);
    this.#useFor(needs.index);
  }

  /** Returns undefined when the page lacks something that is needed. */
  message(uid: number, needs: MessageNeeds): PageMessage | undefined {
    const n = this.#numbers.of(uid);
    return n >= 0 && this.#has(n, needs) ? new PageMessage(this, n, uid) : undefined;
  }

  /** Returns the messages that the page has. */
  messages(uids: readonly number[], needs: MessageNeeds): PageMessage[] {
    return uids.flatMap((uid) => this.message(uid, needs) ?? []);
  }

  add(rows: readonly FolderMessageRow[]): void {
    if (rows.length === 0) return;
    const numbers = rows.map(({ uid }) => this.#numbers.make(uid));
    this.#facts ??= this.#newPart('facts', 'facts', new PageFacts());
    this.#change(this.#facts, (facts) => facts.add(rows, numbers));
    if (rows.every(({ header, indexJson }) => header === undefined && indexJson === undefined)) return;
    this.#sources ??= this.#newPart('sources', 'sources', new PageSources());
    this.#change(this.#sources, (sources) => sources.add(rows, numbers));
  }

  /** @throws Error when no facts were requested */
  get facts(): PageFacts {
    if (this.#facts === undefined) throw new Error('the facts of the messages were not asked for');
    return this.#facts.content;
  }

  get sources(): PageSources | undefined {
    return this.#sources?.content;
  }

  derived(n: number, name: string, make: () => string): string {
    let part = this.#texts.get(name);
    const kept = part?.content.get(n);
    if (kept !== undefined) return kept;
    const made = make();
    if (part === undefined) {
      part = this.#newPart('texts', name, new PageTexts());
      this.#texts.set(name, part);
    }
    this.#change(part, (texts) => texts.set(n, made));
    return made;
  }

  #newPart<C extends PageFacts | PageSources | PageTexts>(kind: PartKind, name: string, content: C): PagePart<C> {
    const part = new PagePart(this.accountId, this.key, kind, name, content);
    this.#keeper.keep(this, part);
    return part;
  }

  #change<C extends PageFacts | PageSources | PageTexts>(part: PagePart<C>, change: (content: C) => void): void {
    const before = part.octets;
    change(part.content);
    this.#keeper.grown(part, part.octets - before);
  }

  #useFor(need: boolean | readonly string[] | undefined): void {
    if (need === undefined || need === false) return;
    if (need === true) {
      if (this.#sources !== undefined) this.#keeper.used(this.#sources);
      return;
    }
    for (const name of need) {
      const texts = this.#texts.get(name);
      if (texts !== undefined) this.#keeper.used(texts);
    }
  }

  #has(n: number, { facts = true, header = false, index = false }: MessageNeeds): boolean {
    const sources = this.#sources?.content;
    return (
      (!facts || this.#facts?.content.has(n) === true) &&
      (header === false || sources?.header(n) !== undefined || (header !== true && this.#hasAll(n, header))) &&
      (index === false || sources?.index(n) !== undefined || (index !== true && this.#hasAll(n, index)))
    );
  }

  #hasAll(n: number, names: readonly string[]): boolean {
    for (const name of names) if (this.#texts.get(name)?.content.has(n) !== true) return false;
    return true;
  }
}

/** A message of a page, with the data that the page has. */
export class PageMessage implements Message {
  readonly uid: number;
  readonly #page: MessagePage;
  readonly #n: number;

  /** `n` is the number of the message in the page. */
  constructor(page: MessagePage, n: number, uid: number) {
    this.#page = page;
    this.#n = n;
    this.uid = uid;
  }

  get emailId(): string {
    return this.#page.facts.emailId(this.#n);
  }

  get threadId(): string {
    return this.#page.facts.threadId(this.#n);
  }

  get blob(): string {
    return this.#page.facts.blob(this.#n);
  }

  get size(): number {
    return this.#page.facts.size(this.#n);
  }

  get receivedAt(): number {
    return this.#page.facts.receivedAt(this.#n);
  }

  get savedAt(): number {
    return this.#page.facts.savedAt(this.#n);
  }

  get preview(): string {
    return this.#page.facts.preview(this.#n);
  }

  get header(): Buffer {
    const octets = this.#page.sources?.header(this.#n);
    if (octets === undefined) throw new Error(`the header of UID ${this.uid} was not asked for`);
    return octets;
  }

  get textCharset(): string | undefined {
    const octets = this.#page.sources?.index(this.#n);
    return octets === undefined ? undefined : textCharset(JSON.parse(octets.toString()) as MessageIndex);
  }

  get index(): MessageIndex {
    const octets = this.#page.sources?.index(this.#n);
    if (octets === undefined) throw new Error(`the index of UID ${this.uid} was not asked for`);
    return JSON.parse(octets.toString()) as MessageIndex;
  }

  /** The octets of header and index. */
  get sourceOctets(): number {
    const { sources } = this.#page;
    if (sources === undefined) return 0;
    return (sources.header(this.#n)?.length ?? 0) + (sources.index(this.#n)?.length ?? 0);
  }

  derived(name: string, make: () => string): string {
    return this.#page.derived(this.#n, name, make);
  }
}
