// The limits of a node: what mailboxes and gateways ask about recipients and suspended accounts. What was read counts for five seconds, or
// until a command or another node changes it; the recipients of a domain count for two, and those of this node at once. The store is told of
// suspensions and of reached limits in the background, until it has them.
import type { Logger } from 'pino';
import { CoalescedReads } from '../../concurrency/coalesced-reads.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import { WorkQueue } from '../../concurrency/work-queue.js';
import type { DirectoryChange } from '../../store/directory.js';
import type {
  AccountSending,
  CountedSending,
  PlacedNotice,
  RecipientLimits,
  SendingStore,
  SendingSuspension,
  SentRecipients,
} from '../../store/limits/sending.js';
import type { SendingMeter } from './meter.js';
import type { MailboxSending, SendingDelay, SendingStatus, SendingTerms } from './protocol.js';
import {
  type ExceededLimit,
  exceededLimit,
  firstMinuteOf,
  limitsOf,
  minuteOf,
  sentIn,
  waitFor,
} from './recipient-limits.js';
import type { SuddenChangeRule } from './sudden-change.js';

/** How old a reading may be. */
const READING_MS = 5_000;
const DOMAIN_MS = 2_000;
const TOLD_MS = 600_000;
const MOST_ACCOUNTS = 50_000;
const MOST_DOMAINS = 10_000;
/** Domains whose minutes of the day are kept: 1,442 numbers each at most. */
const MOST_SUMMED = 1_000;
/** Minutes that may still change: those of other nodes, whose clocks differ. */
const OPEN_MINUTES = 5;
const MOST_TASKS = 10_000;
const TASKS_AT_ONCE = 4;
const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };
const SHORTEST_WAIT_S = 1;

export interface SendingLimitsOptions {
  readonly store: SendingStore;
  /** The limits without a setting. */
  readonly defaults: { readonly account: RecipientLimits; readonly domain: RecipientLimits };
  readonly rule: SuddenChangeRule;
  readonly notices: {
    /** Stores the mail to the user and the operator. @throws StoreFault */
    ofLimit(account: AccountSending, limit: ExceededLimit): Promise<PlacedNotice>;
    ofSuspension(account: AccountSending, reason: string): Promise<PlacedNotice>;
    /** The notice is in the store: the mailboxes may place it now. */
    placed(notice: PlacedNotice): void;
  };
  readonly meter: SendingMeter;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** ms since the epoch. */
  readonly now: () => number;
}

type Reading = AccountSending & { readonly domain: string };

interface DomainReading {
  readonly limit: RecipientLimits;
  readonly sent: SentRecipients;
}

export class SendingLimits implements MailboxSending, SendingStatus {
  readonly #options: SendingLimitsOptions;
  readonly #store: SendingStore;
  readonly #accounts = lruCache<string, Reading>(MOST_ACCOUNTS, { ttl: READING_MS });
  /** `null`: the domain has no limit. */
  readonly #domains = lruCache<string, { readonly reading: DomainReading | null }>(MOST_DOMAINS, {
    ttl: DOMAIN_MS,
  });
  /** What domains have sent by minute, so that a reading looks only at the newest minutes. */
  readonly #summed = lruCache<string, { readonly minutes: ReadonlyMap<number, number>; readonly upTo: number }>(
    MOST_SUMMED,
  );
  /** Accounts that the next read fetches. */
  readonly #wanted = new Set<string>();
  readonly #reads: CoalescedReads<ReadonlyMap<string, Reading>>;
  readonly #domainReads: CoalescedReads<DomainReading | null>;
  readonly #tasks: WorkQueue;
  /** What the store is to be told, by the key of the task. */
  readonly #due = new Map<string, () => Promise<void>>();
  /** Reached limits that the store knows or is about to know: a client that tries again and again asks it for nothing. */
  readonly #told = lruCache<string, true>(MOST_ACCOUNTS, { ttl: TOLD_MS });
  /** The changes of settings so far: a reading that began before the last one is not kept. */
  #changes = 0;

  constructor(options: SendingLimitsOptions) {
    const { store, log } = options;
    this.#options = options;
    this.#store = store;
    this.#reads = new CoalescedReads(() => this.#readAll());
    this.#domainReads = new CoalescedReads((name) => this.#readDomain(name));
    this.#tasks = new WorkQueue({
      work: async (key) => {
        const task = this.#due.get(key);
        await task?.();
        if (this.#due.get(key) === task) this.#due.delete(key);
        return undefined;
      },
      failed: (task, err, accountId) =>
        log.warn({ accountId, task, err }, 'the store does not know yet that a limit is reached'),
      workers: TASKS_AT_ONCE,
      most: MOST_TASKS,
      backoff: BACKOFF,
    });
  }

  get rule(): SuddenChangeRule {
    return this.#options.rule;
  }

  /** Forgets what was read when a limit was set, or an account was suspended or resumed. */
  changed({ kind }: DirectoryChange): void {
    if (kind !== 'sending' && kind !== 'all') return;
    this.#changes++;
    this.#accounts.clear();
    this.#domains.clear();
    this.#summed.clear();
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  async of(accountId: string): Promise<SendingTerms | undefined> {
    try {
      const account = this.#accounts.get(accountId) ?? (await this.#read(accountId));
      return account && (await this.#termsOf(account));
    } catch (err) {
      this.#options.log.warn({ accountId, err }, 'limits of recipients could not be read: they are not enforced now');
      return undefined;
    }
  }

  async suspensionOf(accountId: string, { isNow = false } = {}): Promise<SendingSuspension | null> {
    const known = isNow ? undefined : this.#accounts.get(accountId);
    const account = known ?? (await this.#read(accountId));
    return account?.suspension ?? null;
  }

  async delayOf(accountId: string, recipients: number): Promise<SendingDelay> {
    const now = this.#options.now();
    const account = await this.#read(accountId);
    const terms = account && (await this.#termsOf(account));
    const minutes = await this.#store.minutes(accountId, firstMinuteOf('day', now));
    const exceeded = terms && exceededLimit(levelsOf(terms, sentIn(minutes, now)), recipients);
    // The limit allows the message by now.
    if (exceeded === undefined) return { detail: 'A limit of recipients was reached.', retryAfter: SHORTEST_WAIT_S };
    // When other accounts of the domain have sent is not read: a minute later there may be room.
    const ms = exceeded.of === 'account' ? waitFor(minutes, exceeded, recipients, now) : 60_000;
    return { detail: limitText(exceeded), retryAfter: Math.max(SHORTEST_WAIT_S, Math.ceil(ms / 1000)) };
  }

  async resume(accountId: string): Promise<boolean> {
    const isResumed = await this.#store.resume(accountId, 'server');
    if (isResumed) this.#options.log.info({ accountId }, 'the user has resumed sending');
    this.#forget(accountId);
    return isResumed;
  }

  counted(accountId: string, { recipients }: CountedSending): void {
    const name = this.#accounts.peek(accountId)?.domain;
    const known = name === undefined ? undefined : this.#domains.get(name)?.reading;
    if (name === undefined || known == null) return;
    const sent = { hour: known.sent.hour + recipients, day: known.sent.day + recipients };
    this.#domains.set(name, { reading: { ...known, sent } }, { noUpdateTTL: true });
  }

  exceeded(accountId: string, limit: ExceededLimit): void {
    this.#options.meter.refused(limit);
    const key = `${limit.of} ${limit.period} ${accountId}`;
    // One message alone may have too many recipients although little was sent.
    if (limit.isAlone || this.#told.has(key)) return;
    this.#told.set(key, true);
    this.#do(key, accountId, () => this.#tell(accountId, limit));
  }

  suspend(accountId: string, reason: string): void {
    this.#do(`suspend ${accountId}`, accountId, () => this.#suspend(accountId, reason));
  }

  #do(key: string, accountId: string, task: () => Promise<void>): void {
    this.#due.set(key, task);
    if (!this.#tasks.add(key, accountId)) this.#due.delete(key);
  }

  async #tell(accountId: string, limit: ExceededLimit): Promise<void> {
    const { notices, log } = this.#options;
    const account = this.#accounts.get(accountId) ?? (await this.#read(accountId));
    if (account === undefined) return;
    const owner = limit.of === 'account' ? { accountId } : { domain: account.domain };
    const notice = await notices.ofLimit(account, limit);
    if (!(await this.#store.notice(owner, limit.period, notice))) return;
    log.warn(
      { accountId, limit: `${limit.of} ${limit.period}`, most: limit.limit },
      'a limit of recipients is reached',
    );
    notices.placed(notice);
  }

  async #suspend(accountId: string, reason: string): Promise<void> {
    const { notices, log, meter } = this.#options;
    const account = await this.#read(accountId);
    if (account === undefined || account.suspension !== null) return;
    const notice = await notices.ofSuspension(account, reason);
    const isSuspended = await this.#store.suspend(accountId, { by: 'server', reason }, notice);
    this.#forget(accountId);
    if (!isSuspended) return;
    meter.suspended();
    log.warn({ accountId, reason }, 'sending is suspended');
    notices.placed(notice);
  }

  #forget(accountId: string): void {
    this.#changes++;
    this.#accounts.delete(accountId);
  }

  /** Null also when the sum of the domain cannot be read: the limits of the account hold without it. */
  #readingOf(domain: string): Promise<DomainReading | null> {
    return this.#domainReads.of(domain).catch((err: unknown) => {
      this.#options.log.warn(
        { domain, err },
        'what a domain has sent could not be read: its limits are not enforced now',
      );
      return null;
    });
  }

  async #termsOf({ setting, suspension, resumedAt, domain }: Reading): Promise<SendingTerms> {
    const limit = limitsOf(setting, this.#options.defaults.account);
    const known = this.#domains.get(domain);
    const reading = known === undefined ? await this.#readingOf(domain) : known.reading;
    return { limit, suspension, resumedAt, ...(reading !== null && { domain: reading }) };
  }

  #read(accountId: string): Promise<Reading | undefined> {
    this.#wanted.add(accountId);
    return this.#reads.of('accounts').then((readings) => readings.get(accountId));
  }

  async #readAll(): Promise<ReadonlyMap<string, Reading>> {
    const changes = this.#changes;
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    const readings = new Map<string, Reading>();
    for (const account of await this.#store.accounts(wanted)) {
      const reading = { ...account, domain: account.email.slice(account.email.lastIndexOf('@') + 1) };
      if (changes === this.#changes) this.#accounts.set(account.accountId, reading);
      readings.set(account.accountId, reading);
    }
    return readings;
  }

  async #readDomain(name: string): Promise<DomainReading | null> {
    const { defaults, now } = this.#options;
    const changes = this.#changes;
    const [domain] = await this.#store.domains([name]);
    const limit = limitsOf(domain?.setting ?? { hour: null, day: null }, defaults.domain);
    const isLimited = domain !== undefined && (limit.hour !== null || limit.day !== null);
    const reading = isLimited ? { limit, sent: await this.#sentBy(name, now()) } : null;
    if (changes === this.#changes) this.#domains.set(name, { reading });
    return reading;
  }

  async #sentBy(domain: string, now: number): Promise<SentRecipients> {
    const [changes, first] = [this.#changes, firstMinuteOf('day', now)];
    const known = this.#summed.get(domain);
    const since = Math.max(first, (known?.upTo ?? 0) - OPEN_MINUTES);
    const read = await this.#store.minutesOfDomain(domain, since);
    const minutes = new Map<number, number>();
    for (const [minute, recipients] of known?.minutes ?? [])
      if (minute >= first && minute < since) minutes.set(minute, recipients);
    for (const { minute, recipients } of read) minutes.set(minute, recipients);
    if (changes === this.#changes) this.#summed.set(domain, { minutes, upTo: minuteOf(now) });
    return sentIn(
      [...minutes].map(([minute, recipients]) => ({ minute, recipients })),
      now,
    );
  }
}

const levelsOf = ({ limit, domain }: SendingTerms, sent: SentRecipients) => ({ account: { limit, sent }, domain });

export const limitText = ({ of, period, limit }: ExceededLimit): string =>
  `The ${of} may send to at most ${limit} recipients ${period === 'hour' ? 'an hour' : 'a day'}.`;
