// Deliveries to one domain at a time, bounded, so that a domain that is slow or dead takes no more than its part of the
// node. Those that wait stand in a line. When one comes back that reached nobody, everybody in the line is sent away with
// its outcome: trying each of them in turn would keep all of them for as long as a dead host takes to be found dead.

/** What a lane is left with; `unreached`: why nobody was reached, when that is so. */
export interface Left {
  readonly unreached?: string | undefined;
}

export type Entry =
  /** To be left again. */
  | { readonly kind: 'entered' }
  /** Nobody of the domain could be reached a moment ago. */
  | { readonly kind: 'unreached'; readonly text: string }
  | { readonly kind: 'aborted' };

interface Lane {
  active: number;
  readonly line: Set<(entry: Entry) => void>;
}

export class DomainLanes {
  readonly #limit: number;
  readonly #lanes = new Map<string, Lane>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Who enters now has to stand in line. */
  isFull(domain: string): boolean {
    return (this.#lanes.get(domain)?.active ?? 0) >= this.#limit;
  }

  enter(domain: string, signal: AbortSignal): Promise<Entry> {
    if (signal.aborted) return Promise.resolve({ kind: 'aborted' });
    const lane = this.#lanes.get(domain) ?? { active: 0, line: new Set() };
    this.#lanes.set(domain, lane);
    if (lane.active < this.#limit) {
      lane.active++;
      return Promise.resolve({ kind: 'entered' });
    }
    return new Promise((resolve) => {
      const settle = (entry: Entry) => {
        signal.removeEventListener('abort', abort);
        lane.line.delete(settle);
        resolve(entry);
      };
      const abort = () => settle({ kind: 'aborted' });
      signal.addEventListener('abort', abort, { once: true });
      lane.line.add(settle);
    });
  }

  leave(domain: string, { unreached }: Left): void {
    const lane = this.#lanes.get(domain)!;
    if (unreached !== undefined) for (const settle of [...lane.line]) settle({ kind: 'unreached', text: unreached });
    const [next] = lane.line;
    if (next !== undefined) next({ kind: 'entered' });
    else if (--lane.active === 0) this.#lanes.delete(domain);
  }
}
