// Writes responses of many messages: text is gathered into larger pieces, the client's pace holds the writer back, and the event
// loop serves others every few ms.
import { ConnectionEnd } from '../../tcp/connection-end.js';
import { eventLoop, SLICE_MS } from '../../tcp/event-loop.js';
import type { Output } from '../output.js';
import type { Piece } from './fetch-item.js';

/** Characters that are gathered. */
const GATHERED = 16_384;
/** Characters of one write: far below what may wait for a client that reads. */
const LONGEST_WRITE = 262_144;

export class ResponseWriter {
  readonly #output: Output;
  readonly #holder: string;
  #text = '';
  #yieldedAt = performance.now();

  /** `holder`: on whose behalf the writer gives way to others. */
  constructor(output: Output, holder: string) {
    this.#output = output;
    this.#holder = holder;
  }

  /** A binary string. */
  add(text: string): void {
    this.#text += text;
  }

  /** Whether `pause` is to be awaited before more is added. */
  get isFull(): boolean {
    return this.#text.length >= GATHERED;
  }

  /** Sends what was gathered, and waits where the client or the event loop must be waited for. */
  async pause(): Promise<void> {
    while (this.#text.length > LONGEST_WRITE) {
      this.#output.write(this.#text.slice(0, LONGEST_WRITE));
      this.#text = this.#text.slice(LONGEST_WRITE);
      if (this.#output.ready !== undefined) await this.#output.ready;
    }
    this.flush();
    if (this.#output.ready !== undefined) await this.#output.ready;
    else if (performance.now() - this.#yieldedAt < SLICE_MS) return;
    await eventLoop.yield(this.#holder);
    this.#yieldedAt = performance.now();
  }

  flush(): void {
    if (this.#text === '') return;
    this.#output.write(this.#text);
    this.#text = '';
  }

  /** @throws ConnectionEnd (from the promise) when a stream ends early: the client waits for octets that do not come */
  piece(piece: Piece): Promise<void> | undefined {
    if (typeof piece === 'string') {
      this.#text += piece;
      return this.#text.length > LONGEST_WRITE ? this.pause() : undefined;
    }
    this.flush();
    if (!(piece instanceof Uint8Array)) return this.#stream(piece);
    this.#output.write(piece);
    return this.#output.ready;
  }

  async #stream(source: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const octets of source) {
        this.#output.write(octets);
        if (this.#output.ready !== undefined) await this.#output.ready;
      }
    } catch (error) {
      throw new ConnectionEnd('lost', error);
    }
  }
}
