// The messages of one command, all of which the mailbox takes or none. The octets of a message are stored while the next ones
// are read, a few messages at a time: a command with many messages waits for few commits of the store.
import { type MessageSummary, summarize } from '../../../mail/summary.js';
import type { SpooledContent } from '../../../spool/spool.js';
import type { BlobStore } from '../../../store/blobs.js';

/** Messages of one command. */
const MOST_MESSAGES = 1_000;
/** Octets of all summaries and flags of a command, which travel to the mailbox in one packet. */
const MOST_OCTETS = 524_288;
/** Messages that are stored at the same time. */
const MOST_STORING = 16;

interface BatchedMessage {
  /** SHA-256 of the message. */
  readonly blob: string;
  readonly summary: MessageSummary;
  /** ms since the epoch. */
  readonly receivedAt: number;
  readonly flags: string[];
}

export class MessageBatch {
  readonly messages: BatchedMessage[] = [];
  readonly #blobs: Pick<BlobStore, 'put'>;
  readonly #storing: Promise<void>[] = [];
  #octets = 0;

  constructor(blobs: Pick<BlobStore, 'put'>) {
    this.#blobs = blobs;
  }

  /** Whether no message can be added. */
  get isFull(): boolean {
    return this.messages.length >= MOST_MESSAGES || this.#octets >= MOST_OCTETS;
  }

  /** Takes the content over. Returns when the next message can be read. @throws StoreFault of a message before */
  async add(
    content: SpooledContent,
    { receivedAt, flags }: Pick<BatchedMessage, 'receivedAt' | 'flags'>,
  ): Promise<void> {
    const message = { blob: content.hash, summary: summarize(content.index), receivedAt, flags };
    this.messages.push(message);
    this.#octets += Buffer.byteLength(JSON.stringify(message));
    const storing = this.#blobs.put(content).finally(() => content.release());
    // A failure is thrown where the message is waited for.
    storing.catch(() => {});
    this.#storing.push(storing);
    await this.#storing.at(-MOST_STORING);
  }

  /** All messages are stored. @throws StoreFault */
  async stored(): Promise<void> {
    await Promise.all(this.#storing);
  }

  /** Nothing is stored any more, whether or not that has failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#storing);
  }
}
