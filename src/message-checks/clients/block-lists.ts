// The DNS block lists of MANSIO_DNSBL: which of them have the address of a client. A list that gives no answer in time counts as one that
// does not have it. While a list gives no answers at all, it is left alone for a while (`check-breaker.ts`). What was found is remembered
// for a minute, so that all recipients and messages of a client get one verdict.
import type { Logger } from 'pino';
import { FairSemaphore, SemaphoreFull } from '../../concurrency/fair-semaphore.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import { inTime } from '../../concurrency/time-bounds.js';
import { blockListName, listingIn } from '../../net/dns/block-list.js';
import { type Dns, DnsFailure } from '../../net/dns/resolver.js';
import { isPublicAddress } from '../../net/tcp/address-scope.js';
import { canonicalAddress, networkOf } from '../../net/tcp/ip-address.js';
import { CheckBreaker } from '../check-breaker.js';
import type { ClientCheck, RefusingJudgement } from '../content-check.js';

export interface BlockList {
  readonly zone: string;
  /** `refuse`: clients that it has are refused. `junk`: their mail goes to Junk. */
  readonly action: 'refuse' | 'junk';
}

/** `refused`: the list does not answer this resolver. `failed`: no answer. `skipped`: not asked, because it has given no answers. */
type Outcome = 'listed' | 'clear' | 'refused' | 'failed' | 'skipped';

export interface BlockListMeter {
  looked(list: string, outcome: Outcome): void;
}

export interface BlockListOptions {
  readonly lists: readonly BlockList[];
  readonly dns: Dns;
  readonly log: Logger;
  readonly meter?: BlockListMeter;
  /** ms for the answer of a list. */
  readonly answerMs?: number;
}

const ANSWER_MS = 3_000;
const REMEMBERED = 10_000;
const REMEMBERED_MS = 60_000;
const BREAKER = { failures: 10, firstMs: 10_000, longestMs: 300_000 };
/** Clients that are looked up at a time, in all and of one network; the rest wait. */
const BOUNDS = { total: 200, share: 10, waiting: 2_000, waitingShare: 100 };
const WARN_EVERY_MS = 3_600_000;
const BUSY: RefusingJudgement = {
  verdict: 'defer',
  reply: 'Too many connections wait for their check, try again later',
  by: 'dnsbl',
};

export class BlockLists implements ClientCheck {
  readonly #options: BlockListOptions;
  readonly #found = lruCache<string, Promise<readonly BlockList[]>>(REMEMBERED, { ttl: REMEMBERED_MS });
  readonly #semaphore = new FairSemaphore(BOUNDS);
  readonly #breakers = new Map<string, CheckBreaker>();
  readonly #warnedAt = new Map<string, number>();

  constructor(options: BlockListOptions) {
    this.#options = options;
    for (const { zone } of options.lists) this.#breakers.set(zone, new CheckBreaker(BREAKER));
  }

  async refusalOf(remoteAddress: string): Promise<RefusingJudgement | undefined> {
    try {
      const list = (await this.listing(remoteAddress)).find(({ action }) => action === 'refuse');
      if (list === undefined) return undefined;
      return {
        verdict: 'refuse',
        reply: `The address of this client is in the block list ${shownZone(list.zone)}`,
        code: 554,
        by: 'dnsbl',
      };
    } catch (error) {
      if (error instanceof SemaphoreFull) return BUSY;
      throw error;
    }
  }

  /** The lists that have the address; none for a private one, which is never looked up. @throws SemaphoreFull */
  async listing(remoteAddress: string): Promise<readonly BlockList[]> {
    const address = canonicalAddress(remoteAddress);
    if (address === undefined || !isPublicAddress(address)) return [];
    const known = this.#found.get(address);
    if (known !== undefined) return known;
    const found = this.#look(address);
    this.#found.set(address, found);
    found.catch(() => this.#found.delete(address));
    return found;
  }

  async #look(address: string): Promise<readonly BlockList[]> {
    const permit = await this.#semaphore.acquire(networkOf(address));
    try {
      const { lists } = this.#options;
      const outcomes = await Promise.all(lists.map(({ zone }) => this.#ask(address, zone)));
      return lists.filter((_, i) => outcomes[i] === 'listed');
    } finally {
      permit.release();
    }
  }

  async #ask(address: string, zone: string): Promise<Outcome> {
    const breaker = this.#breakers.get(zone)!;
    const outcome = breaker.mayAsk() ? await this.#answer(address, zone) : 'skipped';
    if (outcome === 'failed') breaker.failed();
    else if (outcome !== 'skipped') breaker.answered();
    if (outcome === 'refused') this.#warn(zone);
    this.#options.meter?.looked(shownZone(zone), outcome);
    return outcome;
  }

  async #answer(address: string, zone: string): Promise<Outcome> {
    const { dns, answerMs = ANSWER_MS } = this.#options;
    try {
      return listingIn(await inTime(dns.resolve(blockListName(address, zone), 'A'), answerMs, 'the block list'));
    } catch (error) {
      return error instanceof DnsFailure && !error.temporary ? 'clear' : 'failed';
    }
  }

  #warn(zone: string): void {
    const now = performance.now();
    if (now < (this.#warnedAt.get(zone) ?? Number.NEGATIVE_INFINITY) + WARN_EVERY_MS) return;
    this.#warnedAt.set(zone, now);
    this.#options.log.warn({ list: shownZone(zone) }, 'the block list does not answer this resolver');
  }
}

/** The last three labels of the zone: those before them may be the key of a subscriber. */
export function shownZone(zone: string): string {
  return zone.split('.').slice(-3).join('.');
}
