// Simulated machines: a clock, cores that programs wait for, programs that do a limited number of things at once, and a disk. Jobs are short,
// so each keeps its core until it is done. Times are in µs.

interface Due {
  readonly at: number;
  /** Keeps jobs of one moment in order. */
  readonly number: number;
  readonly run: () => void;
}

/** Runs what is due, in order of time. */
export class Clock {
  now = 0;
  readonly #heap: Due[] = [];
  #count = 0;

  after(micros: number, run: () => void): void {
    this.#push({ at: this.now + micros, number: this.#count++, run });
  }

  /** Runs until `isOver` returns true or nothing is due. */
  run(isOver: () => boolean): void {
    while (!isOver()) {
      const due = this.#pop();
      if (due === undefined) return;
      this.now = due.at;
      due.run();
    }
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let i = heap.length;
    for (; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (!isBefore(due, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = due;
  }

  #pop(): Due | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    let i = 0;
    for (let child = 1; child < heap.length; child = 2 * i + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.number < b.number);

/** A queue that does not move its elements. */
class Queue<T> {
  #items: T[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head++];
    if (this.#head > 1_000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

interface Job {
  readonly micros: number;
  readonly done: () => void;
}

export class Machine {
  readonly #clock: Clock;
  readonly #waiting = new Queue<Job>();
  #free: number;

  constructor(clock: Clock, cores: number) {
    this.#clock = clock;
    this.#free = cores;
  }

  run(job: Job): void {
    if (this.#free === 0) {
      this.#waiting.push(job);
      return;
    }
    this.#free--;
    this.#begin(job);
  }

  #begin(job: Job): void {
    this.#clock.after(job.micros, () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else this.#begin(next);
      job.done();
    });
  }
}

export class Program {
  /** The time that it has had a core. */
  busy = 0;
  readonly #machine: Machine;
  readonly #waiting = new Queue<Job>();
  #free: number;

  /** `threads`: how many jobs it does at once, if there are cores. */
  constructor(machine: Machine, threads: number) {
    this.#machine = machine;
    this.#free = threads;
  }

  run(micros: number, done: () => void): void {
    const job = { micros, done };
    if (this.#free === 0) {
      this.#waiting.push(job);
      return;
    }
    this.#free--;
    this.#begin(job);
  }

  #begin({ micros, done }: Job): void {
    this.#machine.run({
      micros,
      done: () => {
        this.busy += micros;
        const next = this.#waiting.shift();
        if (next === undefined) this.#free++;
        else this.#begin(next);
        done();
      },
    });
  }
}

/** One flush at a time; those that are requested during one share the next. */
export class Disk {
  readonly #clock: Clock;
  readonly #micros: number;
  #waiting: (() => void)[] = [];
  #isFlushing = false;

  constructor(clock: Clock, micros: number) {
    this.#clock = clock;
    this.#micros = micros;
  }

  flush(done: () => void): void {
    this.#waiting.push(done);
    if (!this.#isFlushing) this.#begin();
  }

  #begin(): void {
    const flushed = this.#waiting;
    this.#waiting = [];
    this.#isFlushing = true;
    this.#clock.after(this.#micros, () => {
      this.#isFlushing = false;
      if (this.#waiting.length > 0) this.#begin();
      for (const done of flushed) done();
    });
  }
}
