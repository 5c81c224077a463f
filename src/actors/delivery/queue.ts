// The queue of outbound mail of a node with the role `outbound`: finds what is due on the shards that the node delivers for,
// by being told and by looking at the store, and has it delivered within bounds. It decides when and what is tried; what
// comes of it the mailboxes decide, and who carries it are the couriers.
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { atMost } from '../../bounds/time-bounds.js';
import type { OutboundStore, QueuedOutbound } from '../../store/outbound.js';
import { shardOf } from '../../store/shard.js';
import type { DeliveryMailboxes } from '../mailbox/outbound/delivery-protocol.js';
import type { Begun, ReservedDelivery, Room } from '../mailbox/outbound/delivery-slots.js';
import type { Ownership } from '../runtime/ownership.js';
import { Backoff } from './backoff.js';
import type { Courier } from './courier.js';
import { Delivery, type DeliveryPorts, type Ended } from './delivery.js';
import { deliverer, territory } from './delivery-placement.js';
import { DomainLimiter } from './domain-limiter.js';
import type { DueNotifier } from './due-notifier.js';
import { InFlight } from './in-flight.js';
import { type DeliveryMeter, NO_DELIVERY_METER } from './meter.js';
import { carryOutRequests } from './operator-requests.js';
import { Standing } from './queue-status.js';
import type { SenderNotifications } from './sender-dsn.js';

export interface DeliveryQueueOptions {
  readonly store: Pick<
    OutboundStore,
    'due' | 'interrupted' | 'reportsDue' | 'requests' | 'settleRequest' | 'overdueMs'
  >;
  readonly mailboxes: DeliveryMailboxes;
  readonly courier: Courier;
  readonly reports: SenderNotifications;
  readonly ownership: Pick<Ownership, 'nodeId' | 'shards' | 'state' | 'view' | 'isCurrent' | 'heartbeatAgeMs'>;
  readonly wakeUps: Pick<DueNotifier, 'listen'>;
  /** Of this process, as its entry in the store has it. */
  readonly incarnation: string;
  readonly leaseTtlMs: number;
  readonly pollMs: number;
  readonly newId: () => string;
  readonly log: Logger;
  readonly meter?: DeliveryMeter;
  /** Emails in flight; 200 when absent. */
  readonly limit?: number;
  /** Deliveries to one domain at a time; 20 when absent. */
  readonly domainLimit?: number;
  /** What deliveries under way get when the node stops, in ms; 3,000 when absent. */
  readonly graceMs?: number;
}

const IN_FLIGHT = 200;
/** Above what a courier has connections for to one host: those that wait there are known to be next. */
const A_DOMAIN = 20;
const GRACE_MS = 3_000;
/** For couriers to let go and for the last reports, after the grace. */
const CLOSING_MS = 2_000;
const REQUESTS = 50;
/** Of the limit: rooms that open one by one are not worth a look each. */
const LOOK_AT_ROOM = 0.1;

export class DeliveryQueue {
  readonly standing: Standing;
  readonly #options: DeliveryQueueOptions;
  readonly #flights: InFlight;
  readonly #ports: DeliveryPorts;
  readonly #underWay = new Map<Delivery, Promise<void>>();
  readonly #restingEmails = new Backoff(() => performance.now());
  readonly #restingAccounts = new Backoff(() => performance.now());
  readonly #closed = new AbortController();
  readonly #endListening: () => void;
  readonly #poll: NodeJS.Timeout;
  /** The store has more that is due than was taken. */
  #more = false;
  #looking: Promise<void> | undefined;
  #lookAgain: 'whole' | 'due' | undefined;
  /** No more is begun since then, by the monotonic clock. */
  #endingSince: number | undefined;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    this.#flights = new InFlight(options.limit ?? IN_FLIGHT);
    const { meter = NO_DELIVERY_METER } = options;
    const lanes = new DomainLimiter(options.domainLimit ?? A_DOMAIN);
    // One a delivery, while the store is away.
    setMaxListeners(0, this.#closed.signal);
    this.#ports = { ...options, lanes, meter, closed: this.#closed.signal, mayBegin: () => !this.#isEnding };
    this.standing = new Standing(() => this.#flights.size, options.pollMs);
    this.#endListening = options.wakeUps.listen({
      due: (accountId, outboundId) => this.#note(accountId, outboundId),
      look: () => this.#look('whole'),
      room: (accountId) => this.#room(accountId),
      hold: (accountId, outboundId, attemptId) => this.#hold(accountId, outboundId, attemptId),
    });
    this.#poll = setInterval(() => this.#look('whole'), options.pollMs);
    this.#look('whole');
  }

  /** Begins nothing any more; what is under way goes on. */
  beginDrain(): void {
    this.#endingSince ??= performance.now();
    clearInterval(this.#poll);
    this.#endListening();
  }

  /** Deliveries under way get the rest of the grace, then they are cut short, and what has come of them is reported. */
  async stop(): Promise<void> {
    this.beginDrain();
    const { graceMs = GRACE_MS, reports, log } = this.#options;
    const left = this.#endingSince! + graceMs - performance.now();
    await atMost(this.#landed(), left);
    for (const delivery of this.#underWay.keys()) delivery.abort();
    if (!(await atMost(Promise.all([this.#landed(), this.#looking, reports.idle()]), CLOSING_MS))) {
      log.warn({ deliveries: this.#underWay.size }, 'the node stops with deliveries of which nobody knows what became');
    }
    this.#closed.abort();
    this.standing.stopped();
  }

  get #isEnding(): boolean {
    const { ownership } = this.#options;
    return this.#endingSince !== undefined || ownership.state === 'draining';
  }

  /** Whether this node begins deliveries for the account, as far as it knows. */
  #deliversFor(accountId: string): boolean {
    const { view, nodeId, isCurrent, shards } = this.#options.ownership;
    return view !== undefined && isCurrent && deliverer(view, shardOf(accountId, shards)) === nodeId;
  }

  #room(accountId: string): Room | undefined {
    if (this.#isEnding || this.#restingAccounts.has(accountId) || !this.#deliversFor(accountId)) return undefined;
    return { places: this.#flights.openings(accountId), by: this.#options.incarnation };
  }

  /** It has its place before it is in the store, or a look at the store would take it for one that was lost. */
  #hold(accountId: string, outboundId: string, attemptId: string): ReservedDelivery {
    if (!this.#flights.add(accountId, outboundId)) throw new Error(`a bug: there is no place for ${outboundId}`);
    let settle!: (begun: Begun | undefined) => void;
    const begun = new Promise<Begun | undefined>((resolve) => {
      settle = resolve;
    });
    this.#fly({ accountId, outboundId, interrupted: null }, attemptId, (delivery) =>
      begun.then((email) => (email === undefined ? { kind: 'released' } : delivery.carryOn(email))),
    );
    return { begin: settle, release: () => settle(undefined) };
  }

  #note(accountId: string, outboundId: string): void {
    if (this.#isEnding || !this.#deliversFor(accountId)) return;
    // It is looked for when there is room.
    if (!this.#take({ accountId, outboundId, interrupted: null })) this.#more = true;
  }

  /** Looks once more after the look that is under way, if one is. */
  #look(what: 'whole' | 'due'): void {
    if (this.#isEnding) return;
    if (this.#lookAgain !== 'whole') this.#lookAgain = what;
    this.#looking ??= this.#lookUntilQuiet();
  }

  async #lookUntilQuiet(): Promise<void> {
    for (let what = this.#lookAgain; what !== undefined && !this.#isEnding; what = this.#lookAgain) {
      this.#lookAgain = undefined;
      const { view, nodeId, isCurrent } = this.#options.ownership;
      // Without a heartbeat there is no store either; what this node is to deliver others may deliver by now.
      const shards = view !== undefined && isCurrent ? territory(view, nodeId) : [];
      try {
        await (shards.length === 0 ? undefined : what === 'whole' ? this.#lookAround(shards) : this.#takeDue(shards));
        this.standing.looked(shards.length);
      } catch (error) {
        if (this.standing.failedToLook()) this.#options.log.warn({ err: error }, 'the queue cannot be read');
      }
    }
    // In the same turn as the last look at `lookAgain`: whoever comes between would not be heard.
    this.#looking = undefined;
  }

  async #lookAround(shards: readonly number[]): Promise<void> {
    const { store, mailboxes, incarnation, reports, log } = this.#options;
    const requests = await store.requests(shards, REQUESTS);
    if (requests.length > 0) await carryOutRequests({ store, mailboxes, log }, requests);
    if (this.#flights.room > 0) {
      const except = [...this.#flights.ids, ...this.#restingEmails.ids];
      const interrupted = await store.interrupted(shards, incarnation, this.#flights.room, except);
      for (const queued of interrupted) this.#take(queued);
    }
    await this.#takeDue(shards);
    await reports.look(shards);
    if (this.standing.wantsOverdue) this.standing.overdue(await store.overdueMs(shards));
  }

  async #takeDue(shards: readonly number[]): Promise<void> {
    this.#more = false;
    while (this.#flights.room > 0 && !this.#isEnding) {
      const limit = this.#flights.room;
      const except = [...this.#flights.ids, ...this.#restingEmails.ids];
      const exceptAccounts = [...this.#flights.sated, ...this.#restingAccounts.ids];
      const due = await this.#options.store.due(shards, limit, except, exceptAccounts);
      const taken = due.filter((queued) => this.#take(queued)).length;
      // Of accounts that had their share there may be more.
      if (exceptAccounts.length > 0 || taken < due.length) this.#more = true;
      if (due.length < limit || taken === 0) return;
    }
    this.#more = true;
  }

  /** False when it is not for now. */
  #take(queued: QueuedOutbound): boolean {
    const { accountId, outboundId } = queued;
    if (this.#isEnding || this.#restingEmails.has(outboundId) || this.#restingAccounts.has(accountId)) return false;
    if (!this.#flights.add(accountId, outboundId)) return false;
    this.#fly(queued, this.#options.newId(), (delivery) => delivery.run());
    return true;
  }

  /** It has its place. */
  #fly(queued: QueuedOutbound, attemptId: string, run: (delivery: Delivery) => Promise<Ended>): void {
    const { accountId, outboundId } = queued;
    const delivery = new Delivery(this.#ports, queued, attemptId, (waits) => this.#park(outboundId, waits));
    const flight = run(delivery)
      .then((ended) => this.#ended(queued, ended))
      .catch((error) => this.#options.log.error({ err: error, accountId, outboundId }, 'a bug: a delivery failed'))
      .finally(() => {
        this.#underWay.delete(delivery);
        this.#flights.remove(outboundId);
        this.#lookAtRoom();
      });
    this.#underWay.set(delivery, flight);
  }

  /** What stands in line for a slow domain keeps no other mail waiting. */
  #park(outboundId: string, waits: boolean): void {
    if (!waits) this.#flights.unpark(outboundId);
    else if (this.#flights.park(outboundId)) this.#lookAtRoom();
  }

  #lookAtRoom(): void {
    if (this.#more && this.#flights.room >= this.#flights.limit * LOOK_AT_ROOM) this.#look('due');
  }

  #ended({ accountId, outboundId }: QueuedOutbound, ended: Ended): void {
    const { log, reports } = this.#options;
    switch (ended.kind) {
      case 'released':
        return;
      case 'reported':
        this.standing.delivers();
        this.#restingEmails.succeeded(outboundId);
        this.#restingAccounts.succeeded(accountId);
        if (ended.reportDue !== null && !this.#isEnding) reports.give(accountId, outboundId);
        return;
      case 'refused':
        this.standing.delivers();
        this.#restingEmails.failed(outboundId);
        return;
      case 'fault':
        this.standing.failedToDeliver();
        this.#restingAccounts.failed(accountId);
        log.warn({ err: ended.error, accountId, outboundId }, 'a delivery could not be begun');
        return;
      case 'lost':
        log.error({ accountId, outboundId }, 'a delivery ended with the node, and nobody knows what became of it');
    }
  }

  async #landed(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }
}
