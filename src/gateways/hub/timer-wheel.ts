// A timer wheel: one timer for all connections of the node. Connections are spread over slots and a tick visits one slot, so ten thousand
// pings do not fall into one moment. Time is counted in ticks, so that a process that was paused does not close connections because of its
// own pause.

export interface Visited {
  /** The connection's slot. */
  readonly slot: number;
  /** Called once every `SLOTS` ticks. */
  visit(now: number): void;
}

/** Ticks between two visits of the same connection. */
export const SLOTS = 20;

export class TimerWheel<T extends Visited> implements Iterable<T> {
  readonly #slots: Set<T>[] = Array.from({ length: SLOTS }, () => new Set<T>());
  #now = 0;
  #size = 0;
  #next = 0;

  /** The number of ticks so far. */
  get now(): number {
    return this.#now;
  }

  get size(): number {
    return this.#size;
  }

  nextSlot(): number {
    this.#next = (this.#next + 1) % SLOTS;
    return this.#next;
  }

  add(connection: T): void {
    this.#slots[connection.slot]!.add(connection);
    this.#size++;
  }

  remove(connection: T): void {
    if (this.#slots[connection.slot]!.delete(connection)) this.#size--;
  }

  tick(): void {
    this.#now++;
    for (const connection of this.#slots[this.#now % SLOTS]!) connection.visit(this.#now);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const slot of this.#slots) yield* slot;
  }
}
