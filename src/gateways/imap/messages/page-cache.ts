// The pages of messages that are kept. Their parts are counted and dropped each by itself.
import type { MessageNeeds } from './message.js';
import { type AnyPart, MessagePage, type PartKeeper } from './message-page.js';
import { OctetCache } from './octet-cache.js';

export class PageCache {
  /** By account and key. */
  readonly #pages = new Map<string, MessagePage>();
  readonly #parts: OctetCache<AnyPart>;
  readonly #keeper: PartKeeper = {
    keep: (page, part) => {
      // Of a page in whose place there is another nothing is kept.
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

  /** To read from it what is needed. */
  get(accountId: string, key: string, needs: MessageNeeds): MessagePage | undefined {
    const page = this.#pages.get(nameOf(accountId, key));
    page?.use(needs);
    return page;
  }

  /** An empty one when it is not there. Whoever opens a page closes it. */
  open(accountId: string, key: string, needs: MessageNeeds): MessagePage {
    const found = this.get(accountId, key, needs);
    if (found !== undefined) return found;
    const page = new MessagePage(accountId, key, this.#keeper);
    this.#pages.set(nameOf(accountId, key), page);
    return page;
  }

  /** Of a page that is empty nothing is kept. */
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
