// How far this node may trust what it sees of the others. Whoever was cut off or asleep itself sees others late or gone that
// were so together with it and are about to come back: for the time of a lease it takes nothing from them.

/** Without the bus for longer, others are to know and take over: reconnecting to another of its servers takes less. */
const CUT_OFF_MS = 250;

export class Isolation {
  readonly #ttlMs: number;
  readonly #changed: () => void;
  #connected = true;
  #cutOff = false;
  #cuttingOff: NodeJS.Timeout | undefined;
  /** Times are of the monotonic clock. */
  #storeSeenAt: number | undefined;
  #patientUntil = Number.NEGATIVE_INFINITY;

  /** `changed`: other nodes are to be told, or may be looked at again. */
  constructor(ttlMs: number, changed: () => void) {
    this.#ttlMs = ttlMs;
    this.#changed = changed;
  }

  get isCutOff(): boolean {
    return this.#cutOff;
  }

  get isPatient(): boolean {
    return !this.#connected || performance.now() < this.#patientUntil;
  }

  /** The bus was lost or is back. */
  bus(connected: boolean): void {
    if (connected === this.#connected) return;
    this.#connected = connected;
    clearTimeout(this.#cuttingOff);
    if (connected) {
      this.#cutOff = false;
      this.#patientUntil = performance.now() + this.#ttlMs;
      this.#changed();
    } else {
      this.#cuttingOff = setTimeout(() => {
        this.#cutOff = true;
        this.#changed();
      }, CUT_OFF_MS);
    }
  }

  /** A heartbeat that began then has reached the store. One that was missed may have been missed by all. */
  store(began: number): void {
    const missed = this.#storeSeenAt !== undefined && began - this.#storeSeenAt > this.#ttlMs / 2;
    if (missed) this.#patientUntil = Math.max(this.#patientUntil, began + this.#ttlMs);
    this.#storeSeenAt = began;
  }

  stop(): void {
    clearTimeout(this.#cuttingOff);
  }
}
