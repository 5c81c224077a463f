// Reads of one account's log that several followers want at the same time: followers at the same position share a read.
import { defer, finalize, type Observable, share } from 'rxjs';

interface Read<T> {
  readonly result$: Observable<T>;
  /** How many segments the bus had brought when the read began. */
  readonly began: number;
}

export class SharedReads<T> {
  readonly #read: (after: number) => Observable<T>;
  readonly #segmentsSoFar: () => number;
  readonly #underWay = new Map<number, Read<T>>();

  constructor(read: (after: number) => Observable<T>, segmentsSoFar: () => number) {
    this.#read = read;
    this.#segmentsSoFar = segmentsSoFar;
  }

  /** A read that began before the last segment arrived is not shared: it may not see the change that was announced. */
  after(position: number): Observable<T> {
    return defer(() => {
      const began = this.#segmentsSoFar();
      const known = this.#underWay.get(position);
      if (known?.began === began) return known.result$;
      const end = () => {
        if (this.#underWay.get(position) === read) this.#underWay.delete(position);
      };
      const read: Read<T> = { began, result$: this.#read(position).pipe(finalize(end), share()) };
      this.#underWay.set(position, read);
      return read.result$;
    });
  }
}
