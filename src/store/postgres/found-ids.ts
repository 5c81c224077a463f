// Ids that a search has found in segments: each once, though an email may be in two of them.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { uuidOctets } from '../../mail/ids.js';
import { ID_OCTETS, IdSet } from './id-set.js';

/** Ids that are added in one turn of the event loop: a millisecond of work. */
const STRETCH = 20_000;

export class FoundIds {
  readonly #ids = new IdSet();
  readonly #after: Buffer | undefined;

  /** `after`: only later ids are found. */
  constructor(after: string | undefined) {
    this.#after = after === undefined ? undefined : uuidOctets(after);
  }

  /** Packed ids. */
  add(packed: Uint8Array): void {
    const octets = bufferOf(packed);
    for (let at = 0; at < octets.length; at += ID_OCTETS) this.#add(octets, at);
  }

  /** Those of some emails of a segment. */
  async addOf(packed: Uint8Array, ordinals: Uint32Array): Promise<void> {
    const octets = bufferOf(packed);
    for (let from = 0; from < ordinals.length; from += STRETCH) {
      if (from > 0) await nextTurn();
      for (const ordinal of ordinals.subarray(from, from + STRETCH)) this.#add(octets, ordinal * ID_OCTETS);
    }
  }

  packed(): Uint8Array {
    return this.#ids.octets();
  }

  #add(octets: Buffer, at: number): void {
    const after = this.#after;
    if (after === undefined || octets.compare(after, 0, ID_OCTETS, at, at + ID_OCTETS) > 0) this.#ids.add(octets, at);
  }
}

const bufferOf = (octets: Uint8Array): Buffer => Buffer.from(octets.buffer, octets.byteOffset, octets.length);
