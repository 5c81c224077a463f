// The messages of one command; the mailbox accepts all of them or none. The octets of a message are stored while the next ones
// are read, a few messages at a time, so a command with many messages waits for few commits of the store. A few small
// messages are held back for the commit of the mailbox, as long as memory is available, because a client may be slow.

import type { KeyedLimiter, Reservation } from '../../../concurrency/keyed-limiter.js';
import { type MessageSummary, summarize } from '../../../mail-format/summary.js';
import type { SpooledContent } from '../../../message-content/spool/spool.js';
import { type BlobStore, fitOneCommit, isSmall } from '../../../store/blobs.js';

/** Messages of one command. */
const MOST_MESSAGES = 1_000;
/** Octets of all summaries and flags of a command, which are sent to the mailbox in one packet. */
const MOST_OCTETS = 524_288;
/** Messages that are stored at the same time. */
const MOST_STORING = 16;
/** Octets of the indexes of messages that are held back, as JSON; they are sent with the commit. */
const MOST_INDEX_OCTETS = 524_288;
/** Estimated memory per octet of such an index, and per message without its index. */
const INDEX_OCTET_MEMORY = 2;
const MESSAGE_MEMORY = 12_000;

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
  #waitedFor = 0;
  #octets = 0;
  /** The number of messages whose octets are counted. */
  #counted = 0;
  /** Contains all messages or none. */
  readonly #buffered: SpooledContent[] = [];
  #bufferedOctets = 0;
  readonly #memory: Reservation;
  #indexOctets = 0;

  /** `memory` limits what is kept in memory about messages that are held back. */
  constructor(blobs: Pick<BlobStore, 'put'>, memory: KeyedLimiter, accountId: string) {
    this.#blobs = blobs;
    this.#memory = memory.charge(accountId, 0);
  }

  /** Whether no message can be added. */
  get isFull(): boolean {
    // Octets are counted on demand, because nobody asks after the last message of a command.
    for (; this.#counted < this.messages.length; this.#counted++) {
      this.#octets += Buffer.byteLength(JSON.stringify(this.messages[this.#counted]));
    }
    return this.messages.length >= MOST_MESSAGES || this.#octets >= MOST_OCTETS;
  }

  /** All messages while none is being stored, else none. The batch keeps their octets until it is `settled`. */
  get unstored(): readonly (BatchedMessage & { readonly content: SpooledContent })[] {
    return this.#buffered.map((content, i) => ({ ...this.messages[i]!, content }));
  }

  /** Takes over the content. Returns when the next message can be read. @throws StoreFault of an earlier message */
  async add(
    content: SpooledContent,
    { receivedAt, flags }: Pick<BatchedMessage, 'receivedAt' | 'flags'>,
  ): Promise<void> {
    this.messages.push({ blob: content.hash, summary: summarize(content.index), receivedAt, flags });
    if (this.#storing.length === 0 && this.#mayHold(content)) {
      this.#buffered.push(content);
      this.#bufferedOctets += content.size;
      return;
    }
    this.#storeBuffered();
    this.#store(content);
    while (this.#storing.length - this.#waitedFor >= MOST_STORING) await this.#storing[this.#waitedFor++];
  }

  /** Waits until all messages are stored. @throws StoreFault */
  async stored(): Promise<void> {
    this.#storeBuffered();
    await Promise.all(this.#storing);
  }

  /** Waits until nothing is being stored any more, even if storing failed. */
  async settled(): Promise<void> {
    for (const content of this.#buffered.splice(0)) content.release();
    this.#memory.release();
    await Promise.allSettled(this.#storing);
  }

  /** The first message needs no memory check: it takes no more than any message that is being read. */
  #mayHold(content: SpooledContent): boolean {
    if (this.#buffered.length === 0) return isSmall(content);
    if (!content.isInMemory || !isSmall(content)) return false;
    if (!fitOneCommit(this.#buffered.length + 1, this.#bufferedOctets + content.size)) return false;
    const octets = JSON.stringify(content.index).length;
    if (this.#indexOctets + octets > MOST_INDEX_OCTETS) return false;
    if (!this.#memory.grow(MESSAGE_MEMORY + octets * INDEX_OCTET_MEMORY)) return false;
    this.#indexOctets += octets;
    return true;
  }

  #storeBuffered(): void {
    for (const content of this.#buffered.splice(0)) this.#store(content);
  }

  #store(content: SpooledContent): void {
    const storing = this.#blobs.put(content).finally(() => content.release());
    // The failure is thrown where the message is awaited.
    storing.catch(() => {});
    this.#storing.push(storing);
  }
}
