// The quotas of a node: what gateways and mailboxes ask about limits and room. While nothing has a limit, nothing is read. Otherwise what
// was read counts for five seconds: RCPT costs at most one read of an account in that time, which all recipients that wait share. The
// mailboxes of this node tell what they use with each commit. Where that passes a limit, or 90 % of it, the store is told and the user gets
// a notice. A domain is looked at within ten seconds of a commit of one of its accounts, and its operator gets the notice.
import type { Logger } from 'pino';
import { CoalescedReads } from '../../concurrency/coalesced-reads.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import { WorkQueue } from '../../concurrency/work-queue.js';
import type { DirectoryChange } from '../../store/directory.js';
import type { AccountQuota, DomainQuota, Limits, QuotaOwner, QuotaStore, Usage } from '../../store/limits/quotas.js';
import type { AccountQuotas, AccountUsage, MailboxQuotas, RecipientQuotas } from './protocol.js';
import { isFull, isNearlyFull, type LimitedUsage, type Quota, type Room, roomFor } from './room.js';

/** How old a reading may be. */
const READING_MS = 5_000;
const MOST_ACCOUNTS = 50_000;
const MOST_DOMAINS = 10_000;
const MOST_REVIEWS = 10_000;
const REVIEWS_AT_ONCE = 4;
/** How long after a commit of one of its accounts a domain is looked at: what else is committed until then counts too. */
const DOMAIN_REVIEW_MS = 5_000;
const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };

export interface QuotasOptions {
  readonly store: QuotaStore;
  /** The limits of accounts without a setting of their own. */
  readonly defaults: Limits;
  /** Tells the user that 90 % are in use, once until `endNotice`. */
  notify(quota: AccountQuota, limit: Limits): Promise<void>;
  /** Tells the operator the same about a domain. */
  notifyOfDomain(quota: DomainQuota, limit: Limits): Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
  /** ms since the epoch. */
  readonly now: () => number;
}

interface Reading extends Quota {
  readonly isNoticed: boolean;
  readonly domainName: string;
}

export class Quotas implements MailboxQuotas, RecipientQuotas, AccountQuotas {
  readonly #options: QuotasOptions;
  readonly #store: QuotaStore;
  readonly #accounts = lruCache<string, Reading>(MOST_ACCOUNTS, { ttl: READING_MS });
  /** `null`: the domain has no limit. */
  readonly #domains = lruCache<string, { readonly quota: LimitedUsage | null }>(MOST_DOMAINS, {
    ttl: READING_MS,
  });
  /** Accounts that the next read fetches. */
  readonly #wanted = new Set<string>();
  readonly #reads: CoalescedReads<ReadonlyMap<string, Reading>>;
  readonly #reviews: WorkQueue;
  /** Its keys are the names of domains. */
  readonly #domainReviews: WorkQueue;
  /** Whether there may be a limit anywhere. */
  #isLimited = true;
  #looked = 0;
  /** The changes of settings so far: a reading that began before the last one is not kept. */
  #changes = 0;

  constructor(options: QuotasOptions) {
    const { store, log } = options;
    this.#options = options;
    this.#store = store;
    this.#reads = new CoalescedReads(() => this.#readAll());
    this.#reviews = new WorkQueue({
      work: async (accountId) => {
        await this.#review(accountId);
        return undefined;
      },
      failed: (accountId, err) => log.warn({ accountId, err }, 'a quota could not be looked at yet'),
      workers: REVIEWS_AT_ONCE,
      most: MOST_REVIEWS,
      backoff: BACKOFF,
    });
    this.#domainReviews = new WorkQueue({
      work: async (name) => {
        await this.#reviewDomain(name);
        return undefined;
      },
      failed: (domain, err) => log.warn({ domain, err }, 'the quota of a domain could not be looked at yet'),
      most: MOST_DOMAINS,
      backoff: BACKOFF,
    });
  }

  /** Looks whether there is any limit. @throws StoreFault */
  async start(): Promise<void> {
    const look = ++this.#looked;
    const { defaults } = this.#options;
    const isLimited = defaults.bytes !== null || defaults.messages !== null || (await this.#store.isAnySet());
    if (look === this.#looked) this.#isLimited = isLimited;
  }

  /** Forgets what was read when a quota was set, or another node has noted that an account is full. */
  changed(change: DirectoryChange): void {
    if (change.kind !== 'quotas' && change.kind !== 'all') return;
    this.#isLimited = true;
    this.#changes++;
    if (change.kind === 'quotas' && change.accountId !== undefined) this.#accounts.delete(change.accountId);
    else {
      this.#accounts.clear();
      this.#domains.clear();
    }
    this.start().catch((err: unknown) => {
      this.#options.log.warn({ err }, 'the quotas could not be read: limits are looked up for every account');
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#reviews.stop(), this.#domainReviews.stop()]);
  }

  of(accountId: string): Promise<Quota | undefined> | undefined {
    if (!this.#isLimited) return undefined;
    const known = this.#accounts.get(accountId);
    if (known !== undefined) return Promise.resolve(known);
    return this.#read(accountId).catch((err: unknown) => {
      this.#options.log.warn({ accountId, err }, 'a quota could not be read: it is not enforced now');
      return undefined;
    });
  }

  async roomFor(accountId: string, bytes: number): Promise<Room> {
    if (!this.#isLimited) return 'room';
    const quota = this.#accounts.get(accountId) ?? (await this.#read(accountId));
    return quota === undefined ? 'room' : roomFor(quota, bytes, this.#options.now());
  }

  async usageOf(accountId: string): Promise<AccountUsage | undefined> {
    const [quota] = await this.#store.accounts([accountId]);
    if (quota === undefined) return undefined;
    const own = { used: quota.used, limit: this.#limitOf(quota) };
    if (!this.#isLimited) return own;
    const name = domainOf(quota.email);
    const domain = (await this.#domainsOf(new Set([name]))).get(name);
    return domain === undefined ? own : { ...own, domain: { name, used: domain.used, limit: domain.limit } };
  }

  used(accountId: string, usage: Usage): void {
    if (!this.#isLimited) return;
    const known = this.#accounts.get(accountId);
    if (known === undefined) {
      this.#reviews.add(accountId, accountId);
      return;
    }
    this.#wasUsed(known);
    const quota = { ...known, used: usage };
    this.#accounts.set(accountId, quota, { noUpdateTTL: true });
    if (isFull(quota) !== (quota.fullSince !== null) || isNearlyFull(quota) !== quota.isNoticed)
      this.#reviews.add(accountId, accountId);
  }

  async #review(accountId: string): Promise<void> {
    const [quota] = await this.#store.accounts([accountId]);
    if (quota === undefined) return;
    const limit = this.#limitOf(quota);
    const isNear = isNearlyFull({ used: quota.used, limit });
    if (isNear && !quota.isNoticed) await this.#options.notify(quota, limit);
    if (!isNear && quota.isNoticed) await this.#store.endNotice(accountId);
    const reading = await this.#read(accountId);
    if (reading !== undefined) this.#wasUsed(reading);
  }

  #wasUsed({ domain, domainName }: Reading): void {
    if (domain !== undefined) this.#domainReviews.addAfter(domainName, DOMAIN_REVIEW_MS);
  }

  async #reviewDomain(name: string): Promise<void> {
    const [quota] = await this.#store.domains([name]);
    if (quota === undefined) return;
    const { limit } = await this.#noted({ domain: name }, limitedOf(quota));
    const isNear = isNearlyFull({ used: quota.used, limit });
    if (isNear && !quota.isNoticed) await this.#options.notifyOfDomain(quota, limit);
    if (!isNear && quota.isNoticed) await this.#store.endDomainNotice(name);
  }

  #read(accountId: string): Promise<Reading | undefined> {
    this.#wanted.add(accountId);
    return this.#reads.of('quotas').then((readings) => readings.get(accountId));
  }

  async #readAll(): Promise<ReadonlyMap<string, Reading>> {
    const changes = this.#changes;
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    const quotas = await this.#store.accounts(wanted);
    const domains = await this.#domainsOf(new Set(quotas.map(({ email }) => domainOf(email))));
    const readings = new Map<string, Reading>();
    for (const quota of quotas) {
      const reading = await this.#readingOf(quota, domains.get(domainOf(quota.email)));
      if (changes === this.#changes) this.#accounts.set(quota.accountId, reading);
      readings.set(quota.accountId, reading);
    }
    return readings;
  }

  async #domainsOf(names: ReadonlySet<string>): Promise<ReadonlyMap<string, LimitedUsage>> {
    const changes = this.#changes;
    const found = new Map<string, LimitedUsage>();
    const unknown: string[] = [];
    for (const name of names) {
      const known = this.#domains.get(name);
      if (known === undefined) unknown.push(name);
      else if (known.quota !== null) found.set(name, known.quota);
    }
    if (unknown.length === 0) return found;
    const read = new Map((await this.#store.domains(unknown)).map((domain) => [domain.name, domain]));
    for (const name of unknown) {
      const domain = read.get(name);
      const quota = domain === undefined ? null : await this.#noted({ domain: name }, limitedOf(domain));
      // A limit that is set below what is in use is noticed without a commit.
      if (quota !== null && isNearlyFull(quota) !== domain?.isNoticed) this.#domainReviews.add(name);
      if (changes === this.#changes) this.#domains.set(name, { quota });
      if (quota !== null) found.set(name, quota);
    }
    return found;
  }

  async #readingOf(quota: AccountQuota, domain: LimitedUsage | undefined): Promise<Reading> {
    const { accountId, email, used, fullSince, isNoticed } = quota;
    const own = await this.#noted({ accountId }, { used, fullSince, limit: this.#limitOf(quota) });
    return { ...own, domain, domainName: domainOf(email), isNoticed };
  }

  /** Tells the store since when there is no room. */
  async #noted(owner: QuotaOwner, quota: LimitedUsage): Promise<LimitedUsage> {
    const isNowFull = isFull(quota);
    if (isNowFull === (quota.fullSince !== null)) return quota;
    await this.#store.setFull(owner, isNowFull);
    return { ...quota, fullSince: isNowFull ? this.#options.now() : null };
  }

  #limitOf({ setting }: Pick<AccountQuota, 'setting'>): Limits {
    const { defaults } = this.#options;
    return {
      bytes: limit(setting.bytes ?? defaults.bytes),
      messages: limit(setting.messages ?? defaults.messages),
    };
  }
}

const limit = (number: number | null): number | null => (number === 0 ? null : number);

function limitedOf({ used, setting, fullSince }: DomainQuota): LimitedUsage {
  return { used, fullSince, limit: { bytes: limit(setting.bytes), messages: limit(setting.messages) } };
}

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);
