// A page of the cache: the messages of a folder whose UIDs are next to each other, as far as they were read.
import type { FolderMessageRow } from '../../../store/folder-messages.js';
import { CachedMessage } from './cached-message.js';
import type { MessageNeeds } from './message.js';

/** UIDs of a page. */
export const PAGE_UIDS = 128;
/** Memory of a page without messages, roughly. */
const PAGE_OCTETS = 1_500;
const NOTHING = new Uint8Array(0);

export class MessagePage {
  readonly accountId: string;
  readonly key: string;
  octets = PAGE_OCTETS;
  /** Settles when the statement that reads the page has ended; undefined when none does. */
  loading: Promise<void> | undefined;
  readonly #messages: (CachedMessage | undefined)[] = new Array(PAGE_UIDS).fill(undefined);
  readonly #grown: (page: MessagePage, octets: number) => void;

  /** `grown`: called with what a page takes more. */
  constructor(accountId: string, key: string, grown: (page: MessagePage, octets: number) => void) {
    this.accountId = accountId;
    this.key = key;
    this.#grown = grown;
  }

  at(uid: number): CachedMessage | undefined {
    return this.#messages[uid % PAGE_UIDS];
  }

  /** Those of them that are there. */
  messages(uids: readonly number[], needs: MessageNeeds): CachedMessage[] {
    return uids.flatMap((uid) => {
      const message = this.at(uid);
      return message?.has(needs) === true ? message : [];
    });
  }

  /** What is new of all rows is copied into one buffer: what the driver gave is a piece of something larger. */
  add(rows: readonly FolderMessageRow[]): void {
    const news = rows.map((row) => {
      const message = this.at(row.uid) ?? new CachedMessage(row, this.#grow);
      this.#messages[row.uid % PAGE_UIDS] = message;
      const header = message.hasHeader ? undefined : row.header;
      const index = message.hasIndex || row.indexJson === undefined ? undefined : Buffer.from(row.indexJson);
      return { message, header, index };
    });
    const octets = Buffer.concat(news.flatMap(({ header, index }) => [header ?? NOTHING, index ?? NOTHING]));
    let end = 0;
    const next = (piece: Uint8Array | undefined) => {
      if (piece === undefined) return undefined;
      end += piece.length;
      return octets.subarray(end - piece.length, end);
    };
    for (const { message, header, index } of news) message.take(next(header), next(index));
  }

  /** The page with its facts and derived strings alone; undefined when it would be as large, or of no use. */
  withoutSources(): MessagePage | undefined {
    const held = this.#messages.filter((message) => message !== undefined);
    if (!held.some(({ hasDerived }) => hasDerived) || !held.some(({ sourceOctets }) => sourceOctets > 0)) return;
    const page = new MessagePage(this.accountId, this.key, this.#grown);
    for (const message of held) page.#messages[message.uid % PAGE_UIDS] = message.withoutSources(page.#grow);
    return page;
  }

  readonly #grow = (octets: number): void => {
    this.octets += octets;
    this.#grown(this, octets);
  };
}
