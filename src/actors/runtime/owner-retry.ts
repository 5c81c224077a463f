// Asks that found no owner of their shard wait here before they are repeated. One ask per shard is repeated at a time, for all that wait,
// so that a takeover does not meet a thousand retries. All continue at once when a node announces that it answers for the shard. The
// retries are for lost announcements, and for owners that recover without one.

/** Pauses between retries. */
const RETRY_MS = [5, 10, 25, 50, 100, 200];

interface OwnerlessShard {
  /** Sorted by arrival. */
  readonly waiting: Set<() => void>;
  retries: number;
  timer: NodeJS.Timeout | undefined;
}

export class OwnerRetry {
  readonly #shards = new Map<number, OwnerlessShard>();

  /** Resolves with true when this ask may be repeated or a node answers for the shard; with false after `boundMs`. */
  wait(shard: number, boundMs: number): Promise<boolean> {
    const ownerless = this.#shards.get(shard) ?? { waiting: new Set(), retries: 0, timer: undefined };
    this.#shards.set(shard, ownerless);
    return new Promise((resolve) => {
      const end = (inTime: boolean) => {
        clearTimeout(bound);
        ownerless.waiting.delete(go);
        resolve(inTime);
      };
      const go = () => end(true);
      const bound = setTimeout(() => {
        end(false);
        this.#endIfEmpty(shard, ownerless);
      }, boundMs);
      ownerless.waiting.add(go);
      if (ownerless.timer === undefined) this.#schedule(shard, ownerless);
    });
  }

  /** Called when a node answers for the shard. */
  end(shard: number): void {
    const ownerless = this.#shards.get(shard);
    if (ownerless === undefined) return;
    this.#shards.delete(shard);
    clearTimeout(ownerless.timer);
    for (const go of [...ownerless.waiting]) go();
  }

  #schedule(shard: number, ownerless: OwnerlessShard): void {
    const pauseMs = RETRY_MS[Math.min(ownerless.retries++, RETRY_MS.length - 1)]!;
    ownerless.timer = setTimeout(
      () => {
        const [next] = ownerless.waiting;
        if (next === undefined) return this.#endIfEmpty(shard, ownerless);
        next();
        // The ask may take long, or find no owner again.
        this.#schedule(shard, ownerless);
      },
      pauseMs * (0.75 + Math.random() / 2),
    );
  }

  #endIfEmpty(shard: number, ownerless: OwnerlessShard): void {
    if (ownerless.waiting.size > 0 || this.#shards.get(shard) !== ownerless) return;
    clearTimeout(ownerless.timer);
    this.#shards.delete(shard);
  }
}
