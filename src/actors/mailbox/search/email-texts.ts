// Port: the header and the words of a message, for filters and search. A gateway knows how to decode messages, so the composition root passes the
// implementation. Accounts take turns.

import type { MessageHeader } from '../../../mail-format/header/message-header.js';

/** The searchable texts of a message, apart from its subject and sender. */
export interface SearchableTexts {
  /** Names and addresses of To and Cc. */
  readonly recipients: string;
  /** File names of attachments. */
  readonly attachments: string;
  /** Words of both bodies, or the octets of a text in valid UTF-8, which must not be changed. */
  readonly body: string | Buffer;
}

export interface StoredMessage {
  readonly accountId: string;
  /** SHA-256 of the message. */
  readonly blob: string;
}

export interface BodyText {
  readonly text: string;
  /** `start`: the body is longer. `undecoded`: there was no time to decode it, and this is its raw start. */
  readonly extent: 'whole' | 'start' | 'undecoded';
}

export interface EmailTexts {
  /** The header of a stored message; an empty one when there is no such blob. @throws StoreFault */
  header(blob: string): Promise<MessageHeader>;
  /** The words of the text body and of the HTML body, at most 256 kB; '' when there is none. @throws StoreFault */
  text(accountId: string, blob: string): Promise<BodyText>;
  /** As much of the body as users are shown: from at most 8 MiB of the message. @throws StoreFault */
  longText(accountId: string, blob: string): Promise<BodyText>;
  /**
   * The texts of each message, all in memory at once; messages with the same blob share one object. Rejects when `signal` aborts. @throws
   * StoreFault
   */
  searchable(messages: readonly StoredMessage[], signal?: AbortSignal): Promise<readonly SearchableTexts[]>;
}
