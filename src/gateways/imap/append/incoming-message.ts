// A message that a client is sending. Its octets are hashed and indexed as they pass into the spool, which holds them in bounded
// memory, exactly as they arrived.
import type { SpooledContent, SpoolWriter } from '../../../message-content/spool/spool.js';
import { no, Refused } from '../completion.js';
import type { ImapContext } from '../context.js';

/** The caller must end it with either `finish` or `discard`. */
export class IncomingMessage {
  readonly #mostOctets: number;
  readonly #writer: SpoolWriter;
  #size = 0;

  constructor({ spool, maxMessageSize }: Pick<ImapContext, 'spool' | 'maxMessageSize'>, accountId: string) {
    this.#mostOctets = maxMessageSize;
    this.#writer = spool.writer(accountId);
  }

  /** Checks the size before this many more octets are requested. @throws Refused when the message would be too large */
  expect(octets: number): void {
    if (this.#size + octets <= this.#mostOctets) return;
    throw new Refused(no(`A message has ${this.#mostOctets} octets at most`, 'TOOBIG'));
  }

  /** @throws Refused for octets that no message may contain, SpoolFault; errors of the source */
  async write(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) {
      this.expect(chunk.length);
      // RFC 3516 §4.2: the message would have to be encoded again, which would change what the client has sent.
      if (chunk.includes(0)) throw new Refused(no('A message with NUL octets cannot be stored', 'UNKNOWN-CTE'));
      this.#size += chunk.length;
      const written = this.#writer.write(chunk);
      if (written !== undefined) await written;
    }
  }

  /** Returns the message, which the caller releases when it is stored. @throws Refused for an empty message, SpoolFault */
  async finish(): Promise<SpooledContent> {
    if (this.#size === 0) throw new Refused(EMPTY);
    return this.#writer.finish();
  }

  discard(): void {
    this.#writer.discard();
  }
}

/** RFC 3502 §3: a client cancels a command by sending an empty message. */
export const EMPTY = no('The message is empty');
