// The cached pages of messages. The parts of a page are counted and dropped separately.
import type { MessageNeeds } from './message.js';
import { type AnyPart, MessagePage, type PartKeeper } from './message-page.js';
import { OctetCache } from './octet-cache.js';

export class PageCache {
  /** Pages by account and key. */
  readonly #pages = new Map<string, MessagePage>();
  readonly #parts: OctetCache<AnyPart>;
  readonly #keeper: PartKeeper = {
    keep: (page, part) => {
      // A page that was replaced keeps no new parts in the cache.
      if (this.#pages.get(nameOf(page.accountId, page.key)) === page) this.#parts.keep(part);
    },
    used: (part) => this.#parts.used(part),
    grown: (part, octets) => this.#parts.grown(part, octets),
  };

  constructor(maxOctets: number) {
    this.#parts = new OctetCache(maxOctets, (part) => this.#dropped(part));
  }

  get octets(): number {
    return this.#parts.octets;
  }

  octetsOf(accountId: string): number {
    return this.#parts.octetsOf(accountId);
  }

  /** Returns the page and marks its parts that are needed as used. */
  get(accountId: string, key: string, needs: MessageNeeds): MessagePage | undefined {
    const page = this.#pages.get(nameOf(accountId, key));
    page?.use(needs);
    return page;
  }

  /** Returns the page, or an empty new one. The caller must close it. */
  open(accountId: string, key: string, needs: MessageNeeds): MessagePage {
    const found = this.get(accountId, key, needs);
    if (found !== undefined) return found;
    const page = new MessagePage(accountId, key, this.#keeper);
    this.#pages.set(nameOf(accountId, key), page);
    return page;
  }

  /** Removes the page if it is empty. */
  close(page: MessagePage): void {
    const name = nameOf(page.accountId, page.key);
    if (page.parts.length === 0 && this.#pages.get(name) === page) this.#pages.delete(name);
  }

  #dropped(part: AnyPart): void {
    const name = nameOf(part.accountId, part.pageKey);
    const page = this.#pages.get(name)!.without(part);
    if (page.parts.length === 0) this.#pages.delete(name);
    else this.#pages.set(name, page);
  }
}

const nameOf = (accountId: string, key: string): string => `${accountId}/${key}`;
