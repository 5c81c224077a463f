// Values of numbered messages, read in spans that grow while a client goes from one number to the next; the next span is read as
// soon as half of one was used. A client that goes back, or further ahead than that, begins anew with a span of one.

/** Values of the numbers up to `last` that are read together. */
export interface Span<T> {
  readonly last: number;
  /** How many numbers it was to have. */
  readonly count: number;
  readonly values: Promise<ReadonlyMap<number, T>>;
  /** Called when nothing more is asked of it. */
  readonly release?: () => void;
}

export interface ReadAheadOptions<T> {
  /** Begins to read so many values at most. */
  readonly load: (first: number, most: number) => Span<T>;
  /** A span is so many times as large as the one before. */
  readonly growth: number;
  /** No number is higher. */
  readonly highest: number;
}

export class ReadAhead<T> {
  readonly #options: ReadAheadOptions<T>;
  #span: Span<T> | undefined;
  #next: Span<T> | undefined;
  /** The number that was asked for last. */
  #before = 0;
  /** Numbers of the span that were asked for. */
  #used = 0;

  constructor(options: ReadAheadOptions<T>) {
    this.#options = options;
  }

  /** Undefined when there is no value. Rejects with what the reading rejects with; the next call reads again. */
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

  #spanOf(number: number): Span<T> {
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

  #load(first: number, most: number): Span<T> {
    const span = this.#options.load(first, most);
    // Nobody awaits a span that is dropped.
    span.values.catch(() => {});
    return span;
  }
}
