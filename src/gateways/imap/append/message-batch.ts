// The messages of one command, all of which the mailbox takes or none. The octets of a message are stored while the next ones
// are read, a few messages at a time: a command with many messages waits for few commits of the store. A small message that is
// the only one is not stored before it has to be.
import { type MessageSummary, summarize } from '../../../mail/summary.js';
import type { SpooledContent } from '../../../spool/spool.js';
import { type BlobStore, isSmall } from '../../../store/blobs.js';

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
  /** Messages whose octets are counted. */
  #counted = 0;
  #unstored: SpooledContent | undefined;

  constructor(blobs: Pick<BlobStore, 'put'>) {
    this.#blobs = blobs;
  }

  /** Whether no message can be added. */
  get isFull(): boolean {
    // Counted when it is asked: the only message of a command is not asked about.
    for (; this.#counted < this.messages.length; this.#counted++) {
      this.#octets += Buffer.byteLength(JSON.stringify(this.messages[this.#counted]));
    }
    return this.messages.length >= MOST_MESSAGES || this.#octets >= MOST_OCTETS;
  }

  /** The only message, when nothing has begun to store it; it is the batch's until that is `settled`. */
  get unstored(): (BatchedMessage & { readonly content: SpooledContent }) | undefined {
    return this.#unstored && { ...this.messages[0]!, content: this.#unstored };
  }

  /** Takes the content over. Returns when the next message can be read. @throws StoreFault of a message before */
  async add(
    content: SpooledContent,
    { receivedAt, flags }: Pick<BatchedMessage, 'receivedAt' | 'flags'>,
  ): Promise<void> {
    this.messages.push({ blob: content.hash, summary: summarize(content.index), receivedAt, flags });
    if (this.messages.length === 1 && isSmall(content)) {
      this.#unstored = content;
      return;
    }
    this.#storeFirst();
    this.#store(content);
    await this.#storing.at(-MOST_STORING);
  }

  /** All messages are stored. @throws StoreFault */
  async stored(): Promise<void> {
    this.#storeFirst();
    await Promise.all(this.#storing);
  }

  /** Nothing is stored any more, whether or not that has failed. */
  async settled(): Promise<void> {
    this.#unstored?.release();
    this.#unstored = undefined;
    await Promise.allSettled(this.#storing);
  }

  #storeFirst(): void {
    const content = this.#unstored;
    this.#unstored = undefined;
    if (content !== undefined) this.#store(content);
  }

  #store(content: SpooledContent): void {
    const storing = this.#blobs.put(content).finally(() => content.release());
    // A failure is thrown where the message is waited for.
    storing.catch(() => {});
    this.#storing.push(storing);
  }
}
