// A message of a folder as FETCH, SEARCH, SORT and THREAD see it.
import type { MessageIndex } from '../../../mail/message-index.js';

/**
 * Which data of a message must be loaded: `true` for always; names of derived texts when the data is needed only to make
 * these texts.
 */
export interface MessageNeeds {
  /** What a message has beside its UID, its header, its index and derived texts; needed unless it is `false`. */
  readonly facts?: boolean;
  /** The octets of the header. */
  readonly header?: boolean | readonly string[];
  /** The MIME index. */
  readonly index?: boolean | readonly string[];
}

/** @throws Error where something is read that was not asked for */
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
   */
  readonly header: Buffer;
  /** The charset of octets in the header that are no UTF-8, where a text declares it and not the header itself. */
  readonly textCharset: string | undefined;
  /** Parsed at every access. */
  readonly index: MessageIndex;
  /**
   * What was made from the message once, by name: a rendered ENVELOPE, a folded subject. It counts for the cache. Names are
   * few, and none has anything that a client wrote.
   */
  derived(name: string, make: () => string): string;
}
