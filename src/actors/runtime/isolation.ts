// Whether this node was isolated itself. A node that was cut off or paused sees other nodes as late or gone that were cut off
// together with it and are about to come back. So it takes no shards from them for the time of a lease.

/** A node without the bus for longer is cut off, and others take its shards. To connect to another bus server takes less. */
const CUT_OFF_MS = 250;

export class Isolation {
  readonly #ttlMs: number;
  readonly #changed: () => void;
  #connected = true;
  #cutOff = false;
  #cuttingOff: NodeJS.Timeout | undefined;
  /** By the monotonic clock. */
  #storeSeenAt: number | undefined;
  #patientUntil = Number.NEGATIVE_INFINITY;

  /** `changed` is called when the state for other nodes has changed, or when their shards may be taken again. */
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

  /** Called when the connection to the bus is lost or made. */
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

  /** Called when a heartbeat has reached the store. After a pause all nodes may have missed theirs. */
  store(began: number): void {
    const missed = this.#storeSeenAt !== undefined && began - this.#storeSeenAt > this.#ttlMs / 2;
    if (missed) this.#patientUntil = Math.max(this.#patientUntil, began + this.#ttlMs);
    this.#storeSeenAt = began;
  }

  stop(): void {
    clearTimeout(this.#cuttingOff);
  }
}
