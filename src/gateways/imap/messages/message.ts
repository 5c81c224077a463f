// A message of a folder as FETCH, SEARCH, SORT and THREAD see it.
import type { MessageIndex } from '../../../mail/message-index.js';

/**
 * Which data of a message must be loaded: `true` for always; names of derived strings when the data is needed only to make
 * these strings.
 */
export interface MessageNeeds {
  /** The octets of the header. */
  readonly header?: boolean | readonly string[];
  /** The MIME index. */
  readonly index?: boolean | readonly string[];
}

export interface Message {
  readonly uid: number;
  readonly emailId: string;
  /** As it was when the message was read: a later email may join two threads. */
  readonly threadId: string;
  /** SHA-256 of the raw message. */
  readonly blob: string;
  /** Octets. */
  readonly size: number;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** When it was put into this folder, ms since the epoch. */
  readonly savedAt: number;
  readonly preview: string;
  /**
   * With the empty line behind it. Of a long one the first `MOST_HEADER_OCTETS`: the blob has the rest.
   * @throws Error when it was not asked for
   */
  readonly header: Buffer;
  /** Parsed at every access. @throws Error when it was not asked for */
  readonly index: MessageIndex;
  /**
   * What was made from the message once, by name: a rendered ENVELOPE, a folded subject. It counts for the cache. Names are
   * few, and none has anything that a client wrote.
   */
  derived(name: string, make: () => string): string;
}
