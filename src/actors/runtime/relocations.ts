// Who waits for something of a shard's owner, and is to hear when another node answers for the shard meanwhile.
import type { Observable } from 'rxjs';
import type { Relocation } from './ownership.js';

export class Relocations {
  readonly #waiting = new Map<number, Set<() => void>>();

  constructor(relocations$: Observable<Relocation>) {
    relocations$.subscribe(({ shards }) => {
      for (const shard of shards) for (const tell of [...(this.#waiting.get(shard) ?? [])]) tell();
    });
  }

  /** What `awaited` comes to, or undefined when somebody begins to answer for the shard before. */
  orMove<T>(shard: number, awaited: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(shard) ?? new Set();
      this.#waiting.set(shard, waiting);
      const over = () => {
        waiting.delete(moved);
        if (waiting.size === 0 && this.#waiting.get(shard) === waiting) this.#waiting.delete(shard);
      };
      const moved = () => {
        over();
        resolve(undefined);
      };
      waiting.add(moved);
      awaited.then(
        (value) => {
          over();
          resolve(value);
        },
        (error) => {
          over();
          reject(error);
        },
      );
    });
  }
}
