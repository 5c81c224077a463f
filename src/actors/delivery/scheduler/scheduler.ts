// Decides what the delivery queue of a node runs next. All bounds are here, with the shares of accounts and domains: emails at a time,
// deliveries to one domain, connections to one host and in total; and the back-off of emails and accounts after errors on our side. A
// recipient's machine decides when the recipient is due (machines/outbound-email/retry.ts); net/smtp-client/host-health.ts knows which
// hosts do not answer.
import { Backoff } from '../../../concurrency/backoff.js';
import { CONNECTIONS, CONNECTIONS_PER_HOST, type ConnectionPermit } from '../delivery-transport.js';
import { DeliveryConcurrency, type DeliverySlot } from './delivery-concurrency.js';
import { type Entered, type Entry, FairQueue } from './fair-queue.js';

export interface SchedulerLimits {
  /** Emails that are delivered at a time. */
  readonly emails: number;
  /** Additional emails of which all domains wait. */
  readonly waitingEmails: number;
  /** Deliveries to one domain at a time. */
  readonly perDomain: number;
  readonly connections: number;
  readonly connectionsPerHost: number;
  /** Deliveries that wait for a connection. */
  readonly waitingForConnection: number;
  /** The longest time in ms that a delivery waits for a connection. */
  readonly connectionWaitMs: number;
}

const DEFAULT_LIMITS: SchedulerLimits = {
  emails: 200,
  waitingEmails: 2_000,
  // More than one host has connections, so that the next deliveries are known to wait for one.
  perDomain: 20,
  connections: CONNECTIONS,
  connectionsPerHost: CONNECTIONS_PER_HOST,
  waitingForConnection: 10_000,
  connectionWaitMs: 60_000,
};

/** An email whose delivery waits for a domain, and the number of requests before it. */
export interface WaitingDomain {
  readonly domain: string;
  readonly ahead: number;
}

/** `most` exceeds the number of failures within the longest back-off. */
const BACKOFF = { firstMs: 500, longestMs: 30_000, most: 5_000 };
/** The part of the slots that must be free before the store is read again. */
const WORTH_READING = 0.1;

export class DeliveryScheduler {
  readonly emails: DeliveryConcurrency;
  readonly #emailBackoff: Backoff;
  readonly #accountBackoff: Backoff;
  readonly #domains: FairQueue;
  readonly #connections: FairQueue;
  /** True when more emails are due than there were slots for. */
  #isMoreDue = false;
  #onFree = () => {};

  /** `now`: ms of a clock that does not jump. */
  constructor(limits: Partial<SchedulerLimits> = {}, now = () => performance.now()) {
    const all = { ...DEFAULT_LIMITS, ...limits };
    this.emails = new DeliveryConcurrency({
      total: all.emails,
      mostWaiting: all.waitingEmails,
      freed: () => this.#offerSlots(),
    });
    this.#emailBackoff = new Backoff({ ...BACKOFF, now });
    this.#accountBackoff = new Backoff({ ...BACKOFF, now });
    this.#domains = new FairQueue({ perGroup: all.perDomain });
    this.#connections = new FairQueue({
      total: all.connections,
      perGroup: all.connectionsPerHost,
      mostWaiting: all.waitingForConnection,
      waitMs: all.connectionWaitMs,
    });
  }

  /** `free` is called when slots have become free and more emails are due than there were slots for. */
  whenFree(free: () => void): void {
    this.#onFree = free;
  }

  /** Notes whether more emails are due than `take` had slots for. */
  noteMoreDue(isMoreDue: boolean): void {
    this.#isMoreDue = isMoreDue;
  }

  /** Returns a slot for the email; undefined while none is free for the account, or while the email or its account backs off. */
  take(accountId: string, outboundId: string): DeliverySlot | undefined {
    if (this.#emailBackoff.has(outboundId)) return undefined;
    return this.reserve(accountId);
  }

  /** Returns a slot for an email that has no id yet. */
  reserve(accountId: string): DeliverySlot | undefined {
    if (this.#accountBackoff.has(accountId)) return undefined;
    return this.emails.take(accountId);
  }

  /** Emails and accounts that `take` refuses now. */
  get refused(): { readonly emails: readonly string[]; readonly accounts: readonly string[] } {
    return {
      emails: this.#emailBackoff.ids,
      accounts: [...this.emails.accountsAtShare, ...this.#accountBackoff.ids],
    };
  }

  /** Registers the delivery of one domain for the email that has the slot. It counts until it is left. */
  domain(slot: DeliverySlot, outboundId: string, domain: string): DomainPermit {
    return new DomainPermit(slot, { outboundId, domain }, this.#domains, this.#connections);
  }

  /** The account's emails that wait for a permit or a connection, each with its domain that has the fewest requests before it. */
  waitingOf(accountId: string): ReadonlyMap<string, WaitingDomain> {
    const least = new Map<string, WaitingDomain>();
    for (const { request, ahead } of [
      ...this.#domains.waitingOf(accountId),
      ...this.#connections.waitingOf(accountId),
    ]) {
      const { outboundId, domain } = request;
      if (ahead < (least.get(outboundId)?.ahead ?? Number.POSITIVE_INFINITY)) least.set(outboundId, { domain, ahead });
    }
    return least;
  }

  delivered(accountId: string, outboundId: string): void {
    this.#emailBackoff.succeeded(outboundId);
    this.#accountBackoff.succeeded(accountId);
  }

  /** Called when the mailbox refused to begin the delivery: it is not due, or another node makes it. */
  emailFailed(outboundId: string): void {
    this.#emailBackoff.failed(outboundId);
  }

  /** Called when the mailbox could not be asked. */
  accountFailed(accountId: string): void {
    this.#accountBackoff.failed(accountId);
  }

  #offerSlots(): void {
    if (this.#isMoreDue && this.emails.free >= this.emails.total * WORTH_READING) this.#onFree();
  }
}

/** The permit of one email to deliver to one domain. */
export class DomainPermit {
  readonly #slot: DeliverySlot;
  readonly #outboundId: string;
  readonly #domain: string;
  readonly #domains: FairQueue;
  readonly #connections: FairQueue;
  #entered: Entered | undefined;

  constructor(
    slot: DeliverySlot,
    { outboundId, domain }: { readonly outboundId: string; readonly domain: string },
    domains: FairQueue,
    connections: FairQueue,
  ) {
    this.#slot = slot;
    this.#outboundId = outboundId;
    this.#domain = domain;
    this.#domains = domains;
    this.#connections = connections;
    slot.count(1, 0);
  }

  /**
   * Waits for the permit. The email counts as waiting while all of its domains wait. `destination`: the domain, or the smart host that
   * takes its mail.
   */
  async enter(signal: AbortSignal, destination = this.#domain): Promise<Entry> {
    const entry = await this.#counted(this.#domains.enter(this.#request(destination), signal));
    if (entry.kind === 'entered') this.#entered = entry;
    return entry;
  }

  /** Requests a permit to have a connection to the host; undefined when none was free in time. */
  connect(host: string, signal: AbortSignal): Promise<ConnectionPermit | undefined> | ConnectionPermit | undefined {
    const entry = this.#connections.enter(this.#request(host), signal);
    return entry instanceof Promise ? Promise.resolve(this.#counted(entry)).then(connectionOf) : connectionOf(entry);
  }

  /** `unreachable`: the reason why no host of the domain was reached. */
  leave(unreachable?: string): void {
    this.#entered?.leave({ unreachable });
    this.#slot.count(-1, 0);
  }

  #counted(entry: Promise<Entry> | Entry): Promise<Entry> | Entry {
    if (!(entry instanceof Promise)) return entry;
    this.#slot.count(0, 1);
    return entry.finally(() => this.#slot.count(0, -1));
  }

  #request(group: string) {
    return { accountId: this.#slot.accountId, outboundId: this.#outboundId, domain: this.#domain, group };
  }
}

function connectionOf(entry: Entry): ConnectionPermit | undefined {
  return entry.kind === 'entered' ? { leave: (mayStay) => entry.leave({ mayStay }) } : undefined;
}
