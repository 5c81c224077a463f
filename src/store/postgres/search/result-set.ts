// The ids that a search has found in segments, each once, although two segments may have the same email. Most segments hold ids
// in order, and no two cover the same time: then nothing has to be looked up.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { uuidOctets } from '../../../mail-format/ids.js';
import { own } from '../driver/binary-results.js';
import { ID_OCTETS, IdSet } from '../driver/id-set.js';

/** Ids that are processed in one turn of the event loop: a millisecond of work. */
const STRETCH = 20_000;
const ID_WORDS = 4;

export class ResultSet {
  /** Packed ids, segment by segment. */
  readonly #runs: Uint8Array[] = [];
  #areAscending = true;
  readonly #after: Uint8Array | undefined;

  /** `after`: only later ids are found. */
  constructor(after: string | undefined) {
    this.#after = after === undefined ? undefined : uuidOctets(after);
  }

  /** Adds the ids of some emails of a segment, whose ids are packed. */
  async add(packed: Uint8Array, docIds: Uint32Array): Promise<void> {
    // A view of 32-bit words must begin at a multiple of four octets.
    const octets = packed.byteOffset % 4 === 0 ? packed : own(packed);
    const words = new Uint32Array(octets.buffer, octets.byteOffset, octets.length / 4);
    const run = new Uint32Array(docIds.length * ID_WORDS);
    const found = new Uint8Array(run.buffer);
    let count = 0;
    for (let i = 0; i < docIds.length; i++) {
      if (i > 0 && i % STRETCH === 0) await nextTurn();
      const from = docIds[i]! * ID_WORDS;
      if (this.#after !== undefined && compareIds(octets, from * 4, this.#after, 0) <= 0) continue;
      const to = count * ID_WORDS;
      run[to] = words[from]!;
      run[to + 1] = words[from + 1]!;
      run[to + 2] = words[from + 2]!;
      run[to + 3] = words[from + 3]!;
      if (count > 0 && compareIds(found, to * 4 - ID_OCTETS, found, to * 4) >= 0) this.#areAscending = false;
      count++;
    }
    if (count > 0) this.#runs.push(found.subarray(0, count * ID_OCTETS));
  }

  async packed(): Promise<Uint8Array> {
    const runs = this.#runs.toSorted((a, b) => compareIds(a, 0, b, 0));
    const areApart = runs.every((run, i) => {
      const before = runs[i - 1];
      return before === undefined || compareIds(before, before.length - ID_OCTETS, run, 0) < 0;
    });
    if (!this.#areAscending || !areApart) return this.#distinct();
    return runs.length === 1 ? runs[0]! : Buffer.concat(runs);
  }

  async #distinct(): Promise<Uint8Array> {
    const ids = new IdSet();
    let added = 0;
    for (const run of this.#runs) {
      for (let at = 0; at < run.length; at += ID_OCTETS) {
        if (++added % STRETCH === 0) await nextTurn();
        ids.add(run, at);
      }
    }
    return ids.octets();
  }
}

function compareIds(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): number {
  for (let i = 0; i < ID_OCTETS; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
