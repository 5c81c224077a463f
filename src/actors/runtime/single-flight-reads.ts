// Single-flight reads of one account's log, which several followers want: followers at the same position share a read, also for a while after
// its end. A read that began before the last segment of the bus arrived is not shared: it may not see the change that was announced.
import { defer, finalize, type Observable, of, share, tap } from 'rxjs';

interface Read<T> {
  readonly result$: Observable<T>;
  /** How many segments the bus had brought when the read began. */
  readonly began: number;
}

/** What a read has found. */
export interface Found<T> {
  readonly value: T;
  readonly began: number;
}

/** Where results are kept, by positions. */
export interface KeptResults<T> {
  get(position: number): Found<T> | undefined;
  keep(position: number, found: Found<T>): void;
}

export class SingleFlightReads<T> {
  readonly #read: (after: number) => Observable<T>;
  readonly #segmentsSoFar: () => number;
  readonly #kept: KeptResults<T> | undefined;
  readonly #underWay = new Map<number, Read<T>>();

  /** `read`: emits once. `kept`: none when a result is shared only until it is there. */
  constructor(read: (after: number) => Observable<T>, segmentsSoFar: () => number, kept?: KeptResults<T>) {
    this.#read = read;
    this.#segmentsSoFar = segmentsSoFar;
    this.#kept = kept;
  }

  after(position: number): Observable<T> {
    return defer(() => {
      const found = this.known(position);
      if (found !== undefined) return of(found);
      const began = this.#segmentsSoFar();
      const known = this.#underWay.get(position);
      if (known?.began === began) return known.result$;
      const end = () => {
        if (this.#underWay.get(position) === read) this.#underWay.delete(position);
      };
      const keep = (value: T) => this.#kept?.keep(position, { value, began });
      const read: Read<T> = { began, result$: this.#read(position).pipe(tap(keep), finalize(end), share()) };
      this.#underWay.set(position, read);
      return read.result$;
    });
  }

  /** The result that is kept of the position, when nothing has arrived since. */
  known(position: number): T | undefined {
    const found = this.#kept?.get(position);
    return found?.began === this.#segmentsSoFar() ? found.value : undefined;
  }
}
