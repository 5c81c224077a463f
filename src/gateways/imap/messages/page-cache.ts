// The pages of messages that are kept. Of a page from which strings were made, header and index go first.
import { MessagePage } from './message-page.js';
import { OctetCache } from './octet-cache.js';

export class PageCache extends OctetCache<MessagePage> {
  /** An empty one when it is not there. */
  open(accountId: string, key: string): MessagePage {
    return this.get(accountId, key) ?? this.keep(new MessagePage(accountId, key, this.#grown));
  }

  protected override remainderOf(page: MessagePage): MessagePage | undefined {
    return page.withoutSources();
  }

  readonly #grown = (page: MessagePage, octets: number): void => this.grown(page, octets);
}
