// A message on its way from a client: its octets are hashed and indexed as they pass into the spool, which holds them in bounded
// memory, exactly as they came.
import type { SpooledContent, SpoolWriter } from '../../../spool/spool.js';
import { no, Refused } from '../completion.js';
import type { ImapContext } from '../context.js';

/** Exactly one of `finish` and `discard` ends it. */
export class IncomingMessage {
  readonly #mostOctets: number;
  readonly #writer: SpoolWriter;
  #size = 0;

  constructor({ spool, maxMessageSize }: Pick<ImapContext, 'spool' | 'maxMessageSize'>, accountId: string) {
    this.#mostOctets = maxMessageSize;
    this.#writer = spool.writer(accountId);
  }

  /** Before so many octets more are asked for. @throws Refused when the message would be too large */
  expect(octets: number): void {
    if (this.#size + octets <= this.#mostOctets) return;
    throw new Refused(no(`A message has ${this.#mostOctets} octets at most`, 'TOOBIG'));
  }

  /** @throws Refused for octets that no message has, SpoolFault; what the source throws */
  async write(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) {
      this.expect(chunk.length);
      // RFC 3516 §4.2: the message would have to be encoded anew, which would change what the client has sent.
      if (chunk.includes(0)) throw new Refused(no('A message with NUL octets cannot be stored', 'UNKNOWN-CTE'));
      this.#size += chunk.length;
      const written = this.#writer.write(chunk);
      if (written !== undefined) await written;
    }
  }

  /** The message, to be released when it is stored. @throws Refused for an empty message, SpoolFault */
  async finish(): Promise<SpooledContent> {
    if (this.#size === 0) throw new Refused(EMPTY);
    return this.#writer.finish();
  }

  discard(): void {
    this.#writer.discard();
  }
}

/** RFC 3502 §3: a client gives up a command by a message without octets. */
export const EMPTY = no('The message is empty');
