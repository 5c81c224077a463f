// Deliveries to one domain at a time, bounded, so that a domain that is slow or dead takes no more than its part of the node,
// and every account has its share of them. Those that wait stand in a line. When one comes back that reached nobody, everybody
// in the line is sent away with its outcome: trying each of them in turn would keep all of them for as long as a dead host
// takes to be found dead.
import { DynamicShares } from '../../bounds/dynamic-shares.js';

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

interface Waiter {
  readonly accountId: string;
  settle(entry: Entry): void;
}

interface Lane {
  readonly places: DynamicShares;
  /** In the order in which they came. */
  readonly line: Set<Waiter>;
}

export class DomainLimiter {
  readonly #limit: number;
  readonly #lanes = new Map<string, Lane>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  enter(domain: string, accountId: string, signal: AbortSignal): Promise<Entry> | Entry {
    if (signal.aborted) return { kind: 'aborted' };
    const lane = this.#lanes.get(domain) ?? {
      places: new DynamicShares({ total: this.#limit }),
      line: new Set(),
    };
    this.#lanes.set(domain, lane);
    if (lane.places.mayTake(accountId)) {
      lane.places.take(accountId);
      return { kind: 'entered' };
    }
    return new Promise((resolve) => {
      const abort = () => waiter.settle({ kind: 'aborted' });
      const waiter: Waiter = {
        accountId,
        settle: (entry) => {
          signal.removeEventListener('abort', abort);
          lane.line.delete(waiter);
          resolve(entry);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      lane.line.add(waiter);
    });
  }

  leave(domain: string, accountId: string, { unreached }: Left): void {
    const lane = this.#lanes.get(domain)!;
    lane.places.give(accountId);
    if (unreached !== undefined)
      for (const { settle } of [...lane.line]) settle({ kind: 'unreached', text: unreached });
    for (let next = fairest(lane); next !== undefined; next = fairest(lane)) {
      lane.places.take(next.accountId);
      next.settle({ kind: 'entered' });
    }
    if (lane.places.free === this.#limit) this.#lanes.delete(domain);
  }
}

/** Who came first of those whose account has the fewest places here; where that is equal, not the account that left last. */
function fairest({ places, line }: Lane): Waiter | undefined {
  let found: Waiter | undefined;
  for (const waiter of line) {
    if (!places.mayTake(waiter.accountId)) continue;
    if (found === undefined || places.compare(waiter.accountId, found.accountId) < 0) found = waiter;
  }
  return found;
}
