// Single-flight reads of one account's log: followers at the same position share a read, and also its result for a while. A read that began
// before the last segment of the bus arrived is not shared: it may not see the announced change.
import { defer, finalize, type Observable, of, share, tap } from 'rxjs';

interface Read<T> {
  readonly result$: Observable<T>;
  /** The number of segments that had arrived from the bus when the read began. */
  readonly began: number;
}

/** The result of a read. */
export interface Found<T> {
  readonly value: T;
  readonly began: number;
}

/** A cache of results by position. */
export interface KeptResults<T> {
  get(position: number): Found<T> | undefined;
  keep(position: number, found: Found<T>): void;
}

export class SingleFlightReads<T> {
  readonly #read: (after: number) => Observable<T>;
  readonly #segmentsSoFar: () => number;
  readonly #kept: KeptResults<T> | undefined;
  readonly #underWay = new Map<number, Read<T>>();

  /** `read`: emits once. `kept`: without it, a result is only shared until the read ends. */
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

  /** The cached result for the position, if no segment has arrived since. */
  known(position: number): T | undefined {
    const found = this.#kept?.get(position);
    return found?.began === this.#segmentsSoFar() ? found.value : undefined;
  }
}
