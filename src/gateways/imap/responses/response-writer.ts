// Writes responses of many messages: it joins text into larger pieces, waits for a slow client, and lets the event
// loop serve others every few ms.

import { ConnectionEnd } from '../../../net/tcp/connection-end.js';
import { eventLoop, SLICE_MS } from '../../../net/tcp/event-loop.js';
import type { Output } from '../../sessions/output.js';
import type { Piece } from './fetch-item.js';

/** Characters that are joined. */
const GATHERED = 16_384;
/** Characters of one write: far below the limit of what may wait for a client. */
const LONGEST_WRITE = 262_144;

export class ResponseWriter {
  readonly #output: Output;
  readonly #holder: string;
  #text = '';
  #yieldedAt = performance.now();

  /** `holder` is the party for whom the writer yields to others. */
  constructor(output: Output, holder: string) {
    this.#output = output;
    this.#holder = holder;
  }

  /** Adds a binary string. */
  add(text: string): void {
    this.#text += text;
  }

  /** Whether `pause` must be awaited before more is added. */
  get isFull(): boolean {
    return this.#text.length >= GATHERED;
  }

  /** Sends what was joined, and waits for the client or the event loop if necessary. */
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

  /** @throws ConnectionEnd (from the promise) when a stream ends early, because the client waits for the missing octets */
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
