// Reads values of numbered messages in spans, which grow while a client goes from one number to the next. The next span is read as
// soon as half of the current one was used. A client that goes back or jumps further ahead starts again with a span of one.

/** Values that are read together, for the numbers up to `last`. */
export interface ReadSpan<T> {
  readonly last: number;
  /** The number of values that were asked for. */
  readonly count: number;
  readonly values: Promise<ReadonlyMap<number, T>>;
  /** Called when no more values of the span are needed. */
  readonly release?: () => void;
}

export interface ReadAheadOptions<T> {
  /** Begins to read at most `most` values. */
  readonly load: (first: number, most: number) => ReadSpan<T>;
  /** The size of a span divided by that of the span before. */
  readonly growth: number;
  /** The highest number that exists. */
  readonly highest: number;
}

export class ReadAhead<T> {
  readonly #options: ReadAheadOptions<T>;
  #span: ReadSpan<T> | undefined;
  #next: ReadSpan<T> | undefined;
  /** The number that was asked for last. */
  #before = 0;
  /** How many numbers of the span were asked for. */
  #used = 0;

  constructor(options: ReadAheadOptions<T>) {
    this.#options = options;
  }

  /** Returns undefined when there is no value. Rejects when the reading fails; the next call reads again. */
  async get(number: number): Promise<T | undefined> {
    const { values } = this.#spanOf(number);
    this.#before = number;
    this.#readOn();
    try {
      return (await values).get(number);
    } catch (error) {
      this.drop();
      throw error;
    }
  }

  drop(): void {
    this.#span?.release?.();
    this.#next?.release?.();
    this.#span = undefined;
    this.#next = undefined;
  }

  #spanOf(number: number): ReadSpan<T> {
    if (this.#next !== undefined && number > this.#span!.last) {
      this.#span?.release?.();
      this.#span = this.#next;
      this.#next = undefined;
      this.#used = 0;
    }
    const span = this.#span;
    this.#used++;
    const isAhead = span !== undefined && number > this.#before;
    if (isAhead && number <= span.last) return span;
    const most = isAhead && number - span.last <= span.count ? span.count * this.#options.growth : 1;
    this.drop();
    this.#used = 1;
    this.#span = this.#load(number, most);
    return this.#span;
  }

  #readOn(): void {
    const span = this.#span;
    const { growth, highest } = this.#options;
    if (span === undefined || this.#next !== undefined || span.count === 1 || this.#used * 2 < span.count) return;
    if (span.last < highest) this.#next = this.#load(span.last + 1, span.count * growth);
  }

  #load(first: number, most: number): ReadSpan<T> {
    const span = this.#options.load(first, most);
    // Nobody awaits the values of a span that is dropped.
    span.values.catch(() => {});
    return span;
  }
}
