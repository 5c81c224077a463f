// Tells whether this node itself was isolated. After that, nodes that were cut off together with it seem late or gone but are about to
// return. So it takes no shards from them for the length of a lease.

/** After this time without the bus, a node is cut off and others take its shards. A change of the bus server takes less. */
const CUT_OFF_MS = 250;

export class Isolation {
  readonly #ttlMs: number;
  readonly #changed: () => void;
  #connected = true;
  #cutOff = false;
  #cuttingOff: NodeJS.Timeout | undefined;
  /** A time of the monotonic clock. */
  #storeSeenAt: number | undefined;
  #patientUntil = Number.NEGATIVE_INFINITY;

  /** `changed` is called when the state that other nodes see has changed, or when their shards may be taken again. */
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

  /** Called when a heartbeat has reached the store. After a pause of the store, all nodes may have missed heartbeats. */
  store(began: number): void {
    const missed = this.#storeSeenAt !== undefined && began - this.#storeSeenAt > this.#ttlMs / 2;
    if (missed) this.#patientUntil = Math.max(this.#patientUntil, began + this.#ttlMs);
    this.#storeSeenAt = began;
  }

  stop(): void {
    clearTimeout(this.#cuttingOff);
  }
}
