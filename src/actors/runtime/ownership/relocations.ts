// Ends the wait for a shard's owner when another node begins to answer for the shard.
import type { Observable } from 'rxjs';
import type { Relocation } from './ownership.js';

export class Relocations {
  readonly #waiting = new Map<number, Set<() => void>>();

  constructor(relocations$: Observable<Relocation>) {
    relocations$.subscribe(({ shards }) => {
      for (const shard of shards) for (const relocated of [...(this.#waiting.get(shard) ?? [])]) relocated();
    });
  }

  /** Returns the result of `awaited`, or undefined when a node begins to answer for the shard first. */
  orRelocation<T>(shard: number, awaited: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(shard) ?? new Set();
      this.#waiting.set(shard, waiting);
      const over = () => {
        waiting.delete(relocated);
        if (waiting.size === 0 && this.#waiting.get(shard) === waiting) this.#waiting.delete(shard);
      };
      const relocated = () => {
        over();
        resolve(undefined);
      };
      waiting.add(relocated);
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
