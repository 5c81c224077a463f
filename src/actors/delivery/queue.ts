// The delivery queue of a node with the role `outbound`: finds due emails on the shards that the node delivers for, and begins their
// deliveries when the scheduler has free slots. Emails come from the store, which is read periodically, from wake-ups by mailboxes, and
// from commits that begin a delivery in a reserved slot. All of them pass through `#admit` and `#begin`.
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { atMost } from '../../concurrency/time-bounds.js';
import { WorkQueue } from '../../concurrency/work-queue.js';
import type { OutboundStore, QueuedOutbound } from '../../store/outbound.js';
import { shardOf } from '../../store/shard.js';
import type { DeliveryMailboxes } from '../mailbox/outbound/delivery-protocol.js';
import type { AssignedSlot, ReservedSlots, StartedDelivery } from '../mailbox/outbound/delivery-slots.js';
import type { Ownership } from '../runtime/ownership/ownership.js';
import { Delivery, type DeliveryPorts, type Ended } from './delivery.js';
import { deliverer, shardsOf } from './delivery-placement.js';
import type { DeliveryTransport } from './delivery-transport.js';
import { type DeliveryMeter, NO_DELIVERY_METER } from './meter.js';
import { carryOutRequests, liftSuppressions } from './operator-requests.js';
import { QueueStatus } from './queue-status.js';
import type { QueueWakeup } from './queue-wakeup.js';
import type { DeliverySlot } from './scheduler/delivery-concurrency.js';
import type { DeliveryScheduler } from './scheduler/scheduler.js';
import type { SenderDsns } from './sender-dsn.js';

export interface DeliveryQueueOptions {
  readonly store: Pick<
    OutboundStore,
    'due' | 'interrupted' | 'dsnsDue' | 'requests' | 'suppressionRequests' | 'settleRequest' | 'overdueMs'
  >;
  readonly mailboxes: DeliveryMailboxes;
  readonly deliveryTransport: DeliveryTransport;
  readonly scheduler: DeliveryScheduler;
  readonly dsns: SenderDsns;
  readonly ownership: Pick<Ownership, 'nodeId' | 'shards' | 'state' | 'view' | 'isCurrent' | 'heartbeatAgeMs'>;
  readonly queueWakeup: Pick<QueueWakeup, 'listen'>;
  /** The incarnation of this process in its store entry. */
  readonly incarnation: string;
  readonly leaseTtlMs: number;
  readonly pollMs: number;
  readonly newId: () => string;
  readonly log: Logger;
  readonly meter?: DeliveryMeter;
  /** The time in ms that running deliveries get when the node stops; 3,000 by default. */
  readonly graceMs?: number;
}

const GRACE_MS = 3_000;
/** The time after the grace for transports to end and for the last reports. */
const CLOSING_MS = 2_000;
const REQUESTS = 50;

/** What is read from the store: emails that are due, or everything that the queue works on. */
type Read = 'all' | 'due';

export class DeliveryQueue {
  readonly status: QueueStatus;
  readonly #options: DeliveryQueueOptions;
  readonly #ports: DeliveryPorts;
  /** Keyed by email id: the only record of the deliveries of this node. */
  readonly #underWay = new Map<string, Delivery>();
  /** The number of reservations that are not released. */
  #reservations = 0;
  readonly #whenIdle: (() => void)[] = [];
  readonly #closed = new AbortController();
  readonly #endListening: () => void;
  readonly #reads: WorkQueue;
  /** The time after which no delivery begins, by the monotonic clock. */
  #endingSince: number | undefined;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    const { meter = NO_DELIVERY_METER, scheduler, pollMs } = options;
    // Each delivery adds a listener while the store is unreachable.
    setMaxListeners(0, this.#closed.signal);
    this.#ports = { ...options, meter, closed: this.#closed.signal, mayBegin: () => !this.#isEnding };
    this.status = new QueueStatus(() => this.#underWay.size, pollMs);
    this.#reads = new WorkQueue({
      work: (what) => this.#read(what as Read),
      failed: (what, err) => options.log.error({ what, err }, 'a bug: the queue is not read'),
      most: 2,
      backoff: { firstMs: pollMs },
    });
    scheduler.whenFree(() => this.#readSoon('due'));
    this.#endListening = options.queueWakeup.listen({
      due: (accountId, outboundId) => this.#due(accountId, outboundId),
      read: () => this.#readSoon('all'),
      reserve: (accountId, wanted) => this.#reserve(accountId, wanted),
      waitingOf: (accountId) => scheduler.waitingOf(accountId),
    });
    this.#readSoon('all');
  }

  /** Begins no further deliveries; running ones continue. */
  beginDrain(): void {
    this.#endingSince ??= performance.now();
    void this.#reads.stop();
    this.#endListening();
  }

  /** Running deliveries get the rest of the grace; then they are interrupted, and their results are reported. */
  async stop(): Promise<void> {
    this.beginDrain();
    const { graceMs = GRACE_MS, dsns, log } = this.#options;
    const left = this.#endingSince! + graceMs - performance.now();
    await atMost(this.#idle(), left);
    for (const delivery of this.#underWay.values()) delivery.abort();
    if (!(await atMost(Promise.all([this.#idle(), this.#reads.stop(), dsns.stop()]), CLOSING_MS))) {
      log.warn(
        { deliveries: this.#underWay.size },
        'the node stops before the results of all deliveries are committed',
      );
    }
    this.#closed.abort();
    this.status.stopped();
  }

  get #isEnding(): boolean {
    const { ownership } = this.#options;
    return this.#endingSince !== undefined || ownership.state === 'draining';
  }

  /** Whether this node begins deliveries for the account, according to its view. */
  #deliversFor(accountId: string): boolean {
    const { view, nodeId, isCurrent, shards } = this.#options.ownership;
    return view !== undefined && isCurrent && deliverer(view, shardOf(accountId, shards)) === nodeId;
  }

  /** Reserves slots for deliveries that begin with a commit. */
  #reserve(accountId: string, wanted: number): ReservedSlots | undefined {
    if (this.#isEnding || !this.#deliversFor(accountId)) return undefined;
    const { scheduler, incarnation } = this.#options;
    const slots: DeliverySlot[] = [];
    for (let slot = scheduler.reserve(accountId); slot !== undefined; slot = scheduler.reserve(accountId)) {
      slots.push(slot);
      if (slots.length === wanted) break;
    }
    this.#reservations++;
    return {
      get count() {
        return slots.length;
      },
      by: incarnation,
      assign: (outboundId, deliveryId) => this.#assign(slots, { accountId, outboundId, interrupted: null }, deliveryId),
      release: () => {
        for (const slot of slots.splice(0)) slot.release();
        this.#reservations--;
        this.#checkIdle();
      },
    };
  }

  #assign(slots: DeliverySlot[], queued: QueuedOutbound, deliveryId: string): AssignedSlot {
    const slot = slots.pop();
    if (slot === undefined) throw new Error(`a bug: no slot is reserved for ${queued.outboundId}`);
    const delivery = this.#admit(queued, slot, deliveryId);
    return {
      begin: (started) => this.#begin(delivery, started),
      release: () => {
        this.#underWay.delete(queued.outboundId);
        slots.push(slot);
      },
    };
  }

  /** Called when a mailbox has committed a due email. */
  #due(accountId: string, outboundId: string): void {
    if (this.#isEnding || !this.#deliversFor(accountId)) return;
    // The email is read from the store when a slot is free.
    if (!this.#take({ accountId, outboundId, interrupted: null })) this.#options.scheduler.noteMoreDue(true);
  }

  /** Begins the delivery of an email that is due or was interrupted. Returns false when it must wait. */
  #take(queued: QueuedOutbound): boolean {
    const { scheduler, newId } = this.#options;
    const { accountId, outboundId } = queued;
    if (this.#isEnding || this.#underWay.has(outboundId)) return false;
    const slot = scheduler.take(accountId, outboundId);
    if (slot === undefined) return false;
    this.#begin(this.#admit(queued, slot, newId()));
    return true;
  }

  /** Records the delivery as running before it is in the store. */
  #admit(queued: QueuedOutbound, slot: DeliverySlot, deliveryId: string): Delivery {
    const delivery = new Delivery(this.#ports, queued, deliveryId, slot);
    this.#underWay.set(queued.outboundId, delivery);
    return delivery;
  }

  /** `started`: what the mailbox has committed; without it, the delivery asks the mailbox to start it. */
  #begin(delivery: Delivery, started?: StartedDelivery): void {
    const { queued, slot } = delivery;
    const { accountId, outboundId } = queued;
    void delivery
      .run(started)
      .then((ended) => this.#ended(queued, ended))
      .catch((error) => this.#options.log.error({ err: error, accountId, outboundId }, 'a bug: a delivery failed'))
      .finally(() => {
        this.#underWay.delete(outboundId);
        slot.release();
        this.#checkIdle();
      });
  }

  #ended({ accountId, outboundId }: QueuedOutbound, ended: Ended): void {
    const { log, dsns, scheduler } = this.#options;
    switch (ended.kind) {
      case 'reported':
        this.status.started();
        scheduler.delivered(accountId, outboundId);
        if (ended.dsnDue !== null && !this.#isEnding) dsns.give(accountId, outboundId);
        return;
      case 'refused':
        this.status.started();
        scheduler.emailFailed(outboundId);
        return;
      case 'fault':
        this.status.failedToStart();
        scheduler.accountFailed(accountId);
        log.warn({ err: ended.error, accountId, outboundId }, 'a delivery could not be started');
        return;
      case 'lost':
        log.error({ accountId, outboundId }, 'the node stopped before the result of a delivery was committed');
    }
  }

  #readSoon(what: Read): void {
    this.#reads.add(what);
  }

  /** Returns when to read again. */
  async #read(what: Read): Promise<number | undefined> {
    if (this.#isEnding) return undefined;
    const { ownership, pollMs, log } = this.#options;
    const { view, nodeId, isCurrent } = ownership;
    // Without a heartbeat the store is unreachable too, and other nodes may deliver for these shards by now.
    const shards = view !== undefined && isCurrent ? shardsOf(view, nodeId) : [];
    try {
      await (shards.length === 0 ? undefined : what === 'all' ? this.#readAll(shards) : this.#takeDue(shards));
      this.status.read(shards.length);
    } catch (error) {
      if (this.status.failedToRead()) log.warn({ err: error }, 'the queue cannot be read');
    }
    return what === 'all' ? pollMs : undefined;
  }

  async #readAll(shards: readonly number[]): Promise<void> {
    const { store, mailboxes, incarnation, dsns, scheduler, log } = this.#options;
    const requests = await store.requests(shards, REQUESTS);
    if (requests.length > 0) await carryOutRequests({ store, mailboxes, log }, requests);
    const lifted = await store.suppressionRequests(shards, REQUESTS);
    if (lifted.length > 0) await liftSuppressions({ mailboxes, log }, lifted);
    const { free } = scheduler.emails;
    if (free > 0) {
      const except = [...this.#underWay.keys(), ...scheduler.refused.emails];
      for (const queued of await store.interrupted(shards, incarnation, free, except)) this.#take(queued);
    }
    await this.#takeDue(shards);
    await dsns.read(shards);
    if (this.status.wantsOverdue) this.status.overdue(await store.overdueMs(shards));
  }

  async #takeDue(shards: readonly number[]): Promise<void> {
    const { store, scheduler } = this.#options;
    scheduler.noteMoreDue(false);
    while (scheduler.emails.free > 0 && !this.#isEnding) {
      const { emails, accounts } = scheduler.refused;
      const limit = scheduler.emails.free;
      const due = await store.due(shards, limit, [...this.#underWay.keys(), ...emails], accounts);
      const taken = due.filter((queued) => this.#take(queued)).length;
      // Accounts that have used up their share may have more.
      if (accounts.length > 0 || taken < due.length) scheduler.noteMoreDue(true);
      if (due.length < limit || taken === 0) return;
    }
    scheduler.noteMoreDue(true);
  }

  /** Resolves when no delivery runs and no slot is reserved. */
  #idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  get #isIdle(): boolean {
    return this.#underWay.size === 0 && this.#reservations === 0;
  }

  #checkIdle(): void {
    if (this.#isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
