// The time that a peer may take to send octets (Postfix: smtpd_min_data_rate, smtpd_per_request_deadline): time runs off, octets earn time,
// and a cap on earned time prevents early octets from buying a long silence. Pure: the clock is an argument.

export class RateCredit {
  readonly #octetsPerSecond: number;
  #ms: number;
  #octets = 0;
  #at: number;

  constructor(octetsPerSecond: number, ms: number, now: number) {
    this.#octetsPerSecond = octetsPerSecond;
    this.#ms = ms;
    this.#at = now;
  }

  /**
   * The ms that are left; negative when the peer is too slow. `octets`: the octets of the message so far. `mostMs`: the cap. `isWaiting`:
   * the peer waits for this side, so no time runs off.
   */
  left(octets: number, mostMs: number, now: number, isWaiting: boolean): number {
    const earned = ((octets - this.#octets) / this.#octetsPerSecond) * 1000;
    const passed = isWaiting ? 0 : now - this.#at;
    this.#ms = Math.min(this.#ms + earned - passed, mostMs);
    this.#octets = octets;
    this.#at = now;
    return this.#ms;
  }
}
