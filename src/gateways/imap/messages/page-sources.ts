// The octets of the headers of a page's messages, and their MIME indexes. Texts are made from both.
import type { FolderMessageRow } from '../../../store/folder-messages.js';

/** Approximate memory of the object, and of a header or an index without its octets. */
const OWN_OCTETS = 300;
const SOURCE_OCTETS = 120;
const NOTHING = new Uint8Array(0);

/** Sources are indexed by the small number of a message within its page. */
export class PageSources {
  octets = OWN_OCTETS;
  readonly #headers: (Buffer | undefined)[] = [];
  /** JSON in UTF-8: half the size of objects, and outside of the heap that the garbage collector scans. */
  readonly #indexes: (Buffer | undefined)[] = [];

  header(n: number): Buffer | undefined {
    return this.#headers[n];
  }

  index(n: number): Buffer | undefined {
    return this.#indexes[n];
  }

  /** Copies the new data of all rows into one buffer, because buffers of the driver are slices of larger ones. */
  add(rows: readonly FolderMessageRow[], numbers: readonly number[]): void {
    const news = rows.map(({ header, indexJson }, i) => {
      const n = numbers[i]!;
      return {
        n,
        header: this.#headers[n] === undefined ? header : undefined,
        index: this.#indexes[n] === undefined && indexJson !== undefined ? Buffer.from(indexJson) : undefined,
      };
    });
    const octets = Buffer.concat(news.flatMap(({ header, index }) => [header ?? NOTHING, index ?? NOTHING]));
    let end = 0;
    const keep = (sources: (Buffer | undefined)[], n: number, piece: Uint8Array | undefined) => {
      if (piece === undefined) return;
      sources[n] = octets.subarray(end, end + piece.length);
      end += piece.length;
      this.octets += SOURCE_OCTETS + piece.length;
    };
    for (const { n, header, index } of news) {
      keep(this.#headers, n, header);
      keep(this.#indexes, n, index);
    }
  }
}
