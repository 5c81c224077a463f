// Shards that nobody seems to answer for, and who waits for somebody to: one asker at a time looks again on behalf of all,
// so that a takeover is not met with a thousand polls. News of an owner ends the waiting at once; the looking is for news
// that got lost, and for owners that come to themselves without any.

/** Pauses before looking again. */
const LOOK_AGAIN_MS = [5, 10, 25, 50, 100, 200];

interface Absence {
  /** The one who waited longest first. */
  readonly waiting: Set<() => void>;
  looks: number;
  timer: NodeJS.Timeout | undefined;
}

export class OwnerRetry {
  readonly #absences = new Map<number, Absence>();

  /** Resolves true when it is this asker's turn to look, or somebody answers for the shard; false when time is over before. */
  turn(shard: number, boundMs: number): Promise<boolean> {
    const absence = this.#absences.get(shard) ?? { waiting: new Set(), looks: 0, timer: undefined };
    this.#absences.set(shard, absence);
    return new Promise((resolve) => {
      const end = (inTime: boolean) => {
        clearTimeout(bound);
        absence.waiting.delete(go);
        resolve(inTime);
      };
      const go = () => end(true);
      const bound = setTimeout(() => {
        end(false);
        this.#endIfEmpty(shard, absence);
      }, boundMs);
      absence.waiting.add(go);
      if (absence.timer === undefined) this.#schedule(shard, absence);
    });
  }

  /** Somebody answers for the shard. */
  end(shard: number): void {
    const absence = this.#absences.get(shard);
    if (absence === undefined) return;
    this.#absences.delete(shard);
    clearTimeout(absence.timer);
    for (const go of [...absence.waiting]) go();
  }

  #schedule(shard: number, absence: Absence): void {
    const pauseMs = LOOK_AGAIN_MS[Math.min(absence.looks++, LOOK_AGAIN_MS.length - 1)]!;
    absence.timer = setTimeout(
      () => {
        const [next] = absence.waiting;
        if (next === undefined) return this.#endIfEmpty(shard, absence);
        next();
        // Whoever looks may be long about it, or find nobody again.
        this.#schedule(shard, absence);
      },
      pauseMs * (0.75 + Math.random() / 2),
    );
  }

  #endIfEmpty(shard: number, absence: Absence): void {
    if (absence.waiting.size > 0 || this.#absences.get(shard) !== absence) return;
    clearTimeout(absence.timer);
    this.#absences.delete(shard);
  }
}
