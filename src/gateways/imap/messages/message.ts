// A message of a folder as FETCH, SEARCH, SORT and THREAD see it.
import type { MessageIndex } from '../../../mail-format/message-index.js';

/**
 * Which data of a message must be loaded. `true` means always; names of derived texts mean that the data is needed only to make
 * these texts.
 */
export interface MessageNeeds {
  /** Everything except UID, header, index and derived texts; needed unless it is `false`. */
  readonly facts?: boolean;
  /** The octets of the header. */
  readonly header?: boolean | readonly string[];
  /** The MIME index. */
  readonly index?: boolean | readonly string[];
}

/** @throws Error when data is read that was not requested */
export interface Message {
  readonly uid: number;
  readonly emailId: string;
  /** The thread when the message was read; a later email may join two threads. */
  readonly threadId: string;
  /** SHA-256 of the raw message. */
  readonly blob: string;
  /** Octets. */
  readonly size: number;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** ms since the epoch at which it was put into this folder. */
  readonly savedAt: number;
  readonly preview: string;
  /**
   * The header with the empty line after it. Only the first `MOST_HEADER_OCTETS` of a long one: the blob has the rest.
   */
  readonly header: Buffer;
  /** The charset of non-UTF-8 octets in the header, when a text declares it and the header does not. */
  readonly textCharset: string | undefined;
  /** The index, which is parsed at every access. */
  readonly index: MessageIndex;
  /**
   * Returns a text that is made from the message once, by name: a rendered ENVELOPE, a folded subject. The cache counts it. Names are
   * few, and none contains input of a client.
   */
  derived(name: string, make: () => string): string;
}
