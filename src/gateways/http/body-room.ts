// Room for bodies while they arrive and until their request is answered. What has come counts, not what was announced, and a
// holder may have as much as is left for all others: alone half of the room, beside n others their equal part, so that whoever
// comes next always finds some (dynamic thresholds: Choudhury and Hahne, 1998). Who finds none is told to come again.

/** The first octets of every body need no room: requests of the usual size are served however large others are. */
const FREE_OCTETS = 64 * 1024;

export class BodyRoom {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  /** Octets of all bodies together. */
  constructor(total: number) {
    this.#total = total;
  }

  /** For one body. `holder`: an account id, or an address before there is one. */
  enter(holder: string): BodyShare {
    return new BodyShare((octets) => this.#take(holder, octets));
  }

  #take(holder: string, octets: number): boolean {
    const held = (this.#held.get(holder) ?? 0) + octets;
    if (octets > 0 && held > this.#total - this.#taken - octets) return false;
    this.#taken += octets;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    return true;
  }
}

/** What one body has of the room. */
export class BodyShare {
  readonly #take: (octets: number) => boolean;
  #received = 0;
  #taken = 0;

  constructor(take: (octets: number) => boolean) {
    this.#take = take;
  }

  /** So many octets more have come; false when there is no room for them. */
  add(octets: number): boolean {
    this.#received += octets;
    const more = Math.max(0, this.#received - FREE_OCTETS) - this.#taken;
    if (!this.#take(more)) return false;
    this.#taken += more;
    return true;
  }

  /** Gives all of it back; may be called again. */
  leave(): void {
    this.#take(-this.#taken);
    this.#taken = 0;
  }
}
