// One delivery of one email: its mailbox starts it, all domains are delivered concurrently, and their results are reported to the mailbox.
// While a domain is being delivered, the delivery also retries domains that become due, so no domain waits for another. A report that
// cannot be committed is repeated until the node ends, because otherwise the message would be sent twice.
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { atMost } from '../../concurrency/time-bounds.js';
import { clock } from '../../store/clock.js';
import { StoreFault } from '../../store/errors.js';
import type { DsnKind, QueuedOutbound } from '../../store/outbound.js';
import type { DeliveryMailboxes, DeliveryProtocol } from '../mailbox/outbound/delivery-protocol.js';
import type { StartedDelivery } from '../mailbox/outbound/delivery-slots.js';
import { ActorFault } from '../runtime/errors.js';
import type { Outcome, Payload } from '../runtime/protocol.js';
import { DeliveryLease, type DeliveryLeaseOptions } from './delivery-lease.js';
import { type DeliveryReport, type DeliveryTask, type DeliveryTransport, placedOnce } from './delivery-transport.js';
import type { DeliveryMeter } from './meter.js';
import { failedBy, unreachableAgain, withoutTemporary } from './outcomes.js';
import type { DeliverySlot } from './scheduler/delivery-concurrency.js';
import type { DeliveryScheduler, DomainPermit } from './scheduler/scheduler.js';

export interface DeliveryPorts extends Omit<DeliveryLeaseOptions, 'confirm'> {
  readonly mailboxes: DeliveryMailboxes;
  readonly deliveryTransport: DeliveryTransport;
  readonly scheduler: DeliveryScheduler;
  /** The incarnation of this process in its store entry. */
  readonly incarnation: string;
  readonly log: Logger;
  readonly meter: DeliveryMeter;
  /** Aborted when the node no longer waits for reports. */
  readonly closed: AbortSignal;
  /** False when the node begins no further attempts. */
  mayBegin(): boolean;
}

export type Ended =
  | { readonly kind: 'reported'; readonly dsnDue: DsnKind | null }
  /** The email is not due, or another node delivers it. */
  | { readonly kind: 'refused' }
  /** The mailbox could not be asked to start the delivery. */
  | { readonly kind: 'fault'; readonly error: unknown }
  /** The node stopped before the result was committed. */
  | { readonly kind: 'lost' };

type Recipients = StartedDelivery['recipients'];
type Report = Payload<DeliveryProtocol, 'reportDelivery'>;
type Reported = Outcome<DeliveryProtocol, 'reportDelivery'>;

/** The recipients of one domain. */
interface DomainDelivery {
  readonly domain: string;
  readonly recipients: Recipients;
  readonly permit: DomainPermit;
}

interface DomainReport extends DeliveryReport {
  /** Ids of recipients that were not tried because no connection was free. */
  readonly postponed: readonly string[];
}

/** Domains that end within this time are reported in one commit. */
const TOGETHER_MS = 10;
/** The time that a transport gets to end an aborted task. */
const ABORT_MS = 1_000;
/** The pauses between attempts to commit a report. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** The bounds of the wait for recipients that become due. */
const SHORTEST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 3_600_000;

export class Delivery {
  readonly queued: QueuedOutbound;
  readonly slot: DeliverySlot;
  readonly #ports: DeliveryPorts;
  readonly #log: Logger;
  readonly #deliveryId: string;
  readonly #abort = new AbortController();
  readonly #lease: DeliveryLease;
  /** Reports of domains that the mailbox does not have yet. */
  #unreported: DomainReport[] = [];
  readonly #domains = new Set<DomainDelivery>();
  /** Ids of recipients whose attempts have begun and whose outcomes are not committed. */
  readonly #begun = new Set<string>();
  /** The time at which the first waiting recipient is due, by the monotonic clock. */
  #dueAt: number | undefined;
  /** True when recipients were not tried, or their attempt was interrupted. */
  #isInterrupted = false;
  #domainEnded = () => {};
  readonly #localAccountIds = new Set<string>();

  /** Must be created before the delivery is in the store. */
  constructor(ports: DeliveryPorts, queued: QueuedOutbound, deliveryId: string, slot: DeliverySlot) {
    this.queued = queued;
    this.slot = slot;
    this.#ports = ports;
    this.#deliveryId = deliveryId;
    const { accountId, outboundId } = queued;
    this.#log = ports.log.child({ accountId, outboundId, deliveryId });
    // Each domain adds a listener, and an email may go to a thousand domains.
    setMaxListeners(0, this.#abort.signal);
    this.#lease = new DeliveryLease({ ...ports, confirm: () => this.#confirm() });
  }

  /** Interrupts running attempts. Replies that remote hosts have already given still count. */
  abort(): void {
    this.#abort.abort();
    setTimeout(() => this.#abandon(), ABORT_MS).unref();
  }

  /** `started`: what the mailbox has committed; without it, the mailbox is asked to start the delivery. */
  async run(started?: StartedDelivery): Promise<Ended> {
    if (started !== undefined) return this.#deliver(started);
    const { mailboxes, incarnation: by } = this.#ports;
    const { accountId, outboundId, interrupted: supersedes } = this.queued;
    const attempt = { id: this.#deliveryId, by };
    let reply: StartedDelivery | undefined;
    try {
      ({ reply } = await mailboxes.of(accountId).ask('startDelivery', { outboundId, attempt, supersedes }));
    } catch (error) {
      if (error instanceof ActorFault && error.code === 'no-such-account') return { kind: 'refused' };
      return { kind: 'fault', error };
    }
    return reply === undefined ? { kind: 'refused' } : this.#deliver(reply);
  }

  async #deliver(started: StartedDelivery): Promise<Ended> {
    const { meter } = this.#ports;
    const reported = await this.#deliverAndReport(started);
    const ageMs = Math.max(0, clock.now() - started.createdAt);
    if (reported === undefined) return { kind: 'lost' };
    if (reported.refusal !== undefined) {
      this.#log.warn({ refusal: reported.refusal }, 'a delivery was taken over while it was under way');
      meter.ended('superseded', ageMs);
      return { kind: 'refused' };
    }
    const { status, nextRetryAt, dsnDue } = reported.reply;
    meter.ended(this.#isInterrupted ? 'interrupted' : status, ageMs);
    this.#log.info({ status, nextRetryAt, ageMs }, 'delivery over');
    return { kind: 'reported', dsnDue };
  }

  /** Returns the mailbox's answer to the last report; undefined when the mailbox never got the report. */
  async #deliverAndReport(started: StartedDelivery): Promise<Reported | undefined> {
    this.#begin(started, started);
    for (;;) {
      if (this.#unreported.length === 0 && this.#domains.size > 0) await this.#endOrDue();
      const until = performance.now() + TOGETHER_MS;
      while (this.#domains.size > 0 && (await atMost(this.#nextEnd(), until - performance.now())));
      const reports = this.#unreported;
      this.#unreported = [];
      const isOver = this.#domains.size === 0;
      const reported = await this.#report(reports, isOver);
      if (isOver || reported?.reply === undefined) {
        // Another delivery has taken over.
        if (!isOver) this.abort();
        return reported;
      }
      for (const { outcomes, postponed } of reports) {
        for (const id of [...outcomes.map(({ recipientId }) => recipientId), ...postponed]) this.#begun.delete(id);
      }
      this.#begin(started, reported.reply);
    }
  }

  /** Starts the attempts that the mailbox has begun and that this delivery does not run yet. */
  #begin(
    started: StartedDelivery,
    { recipients = [], retryInMs = null }: Pick<StartedDelivery, 'recipients' | 'retryInMs'>,
  ): void {
    const { scheduler } = this.#ports;
    this.#dueAt = retryInMs === null ? undefined : performance.now() + Math.max(SHORTEST_WAIT_MS, retryInMs);
    const domains: DomainDelivery[] = [];
    for (const [domain, each] of byDomain(recipients.filter(({ id }) => !this.#begun.has(id)))) {
      for (const { id } of each) this.#begun.add(id);
      domains.push({ domain, recipients: each, permit: scheduler.domain(this.slot, this.queued.outboundId, domain) });
    }
    for (const domain of domains) {
      this.#domains.add(domain);
      void this.#deliverDomain(started, domain).then((report) => this.#end(domain, report));
    }
  }

  /** Resolves when a domain ends, or when a waiting recipient is due. */
  async #endOrDue(): Promise<void> {
    const next = this.#nextEnd();
    if (this.#dueAt === undefined || !this.#ports.mayBegin()) return next;
    await atMost(next, Math.min(LONGEST_WAIT_MS, this.#dueAt - performance.now()));
  }

  /** Resolves when a domain ends. */
  #nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#domainEnded = resolve;
    });
  }

  #end(domain: DomainDelivery, report: DomainReport | undefined): void {
    // The domain was abandoned before.
    if (!this.#domains.delete(domain)) return;
    if (report !== undefined) this.#unreported.push(report);
    this.#domainEnded();
  }

  /** Ends domains whose transports did not end in time. */
  #abandon(): void {
    const domains = [...this.#domains].map(({ domain }) => domain);
    if (domains.length > 0) this.#log.warn({ domains }, 'deliveries did not end in time after they were aborted');
    for (const domain of this.#domains) {
      this.#isInterrupted = true;
      this.#end(domain, undefined);
    }
  }

  /** Never rejects; undefined when nothing is known of any recipient. */
  async #deliverDomain(started: StartedDelivery, domain: DomainDelivery): Promise<DomainReport | undefined> {
    const { permit, recipients } = domain;
    const { signal } = this.#abort;
    let report: DeliveryReport | undefined;
    try {
      const entry = await permit.enter(signal, await this.#destinationOf(started, domain));
      if (entry.kind === 'unreachable') return { ...unreachableAgain(recipients, entry.text), postponed: [] };
      if (entry.kind !== 'entered') {
        this.#isInterrupted = true;
        return undefined;
      }
      report = await this.#askTransport(started, domain);
      return report && this.#withPostponed(report, recipients);
    } finally {
      permit.leave(signal.aborted ? undefined : unreachableBy(report));
    }
  }

  /** When it cannot be read, the transport will say so. */
  async #destinationOf({ sender }: StartedDelivery, { domain, recipients }: DomainDelivery): Promise<string> {
    const asked = this.#ports.deliveryTransport.destinationOf?.({ sender, domain, recipients });
    return (await asked?.catch(() => domain)) ?? domain;
  }

  /** Undefined when the transport was not called. */
  async #askTransport(
    { blob, size, sender, dsn }: StartedDelivery,
    { domain, recipients, permit }: DomainDelivery,
  ): Promise<DeliveryReport | undefined> {
    const { deliveryTransport, meter } = this.#ports;
    const { accountId, outboundId } = this.queued;
    const { signal } = this.#abort;
    if (!(await this.#lease.isHeld()) || signal.aborted) {
      this.#isInterrupted = true;
      return undefined;
    }
    const began = performance.now();
    const connect: DeliveryTask['connect'] = (host, ended) => permit.connect(host, ended);
    const report = await deliveryTransport
      .deliver({ accountId, outboundId, sender, domain, recipients, blob, size, dsn, signal, connect })
      .catch((error: unknown) => this.#failed(error, recipients));
    const kinds = report.outcomes.map(({ kind }) => kind);
    if (kinds.length > 0) meter.attempted(kinds, performance.now() - began);
    return report;
  }

  /** Adds the recipients that were not tried. Of an interrupted attempt, only the replies of remote hosts are kept. */
  #withPostponed(report: DeliveryReport, recipients: Recipients): DomainReport {
    const tried = new Set(report.outcomes.map(({ recipientId }) => recipientId));
    const postponed = recipients.map(({ id }) => id).filter((id) => !tried.has(id));
    const isCutShort = postponed.length > 0 || report.outcomes.some(({ kind }) => kind === 'temporary');
    if (!this.#abort.signal.aborted || !isCutShort) return { ...report, postponed };
    this.#isInterrupted = true;
    return { ...withoutTemporary(report), postponed: [] };
  }

  #failed(error: unknown, recipients: Recipients): DeliveryReport {
    if (error instanceof StoreFault) this.#log.warn({ err: error }, 'a message could not be read for its delivery');
    else this.#log.error({ err: error }, 'a bug: the transport failed');
    return failedBy(recipients);
  }

  async #confirm(): Promise<boolean> {
    const reported = await this.#persist({ outcomes: [], attempts: [], isOver: false, isInterrupted: false });
    return reported?.reply !== undefined;
  }

  #report(reports: readonly DomainReport[], isOver: boolean): Promise<Reported | undefined> {
    return this.#persist({
      outcomes: reports.flatMap(({ outcomes }) => outcomes.map((outcome) => this.#once(outcome))),
      attempts: reports.flatMap(({ attempts }) =>
        attempts.map((attempt) => ({ ...attempt, recipients: [...attempt.recipients] })),
      ),
      isOver,
      isInterrupted: isOver && this.#isInterrupted,
      postponed: reports.flatMap(({ postponed }) => postponed),
      begins: !isOver && !this.#abort.signal.aborted && this.#ports.mayBegin(),
    });
  }

  /** Delivers one copy per mailbox, even if several of its addresses are recipients. */
  #once(outcome: DeliveryReport['outcomes'][number]): Report['outcomes'][number] {
    if (outcome.kind !== 'delivered') return outcome;
    const { localAccountIds: asked, localOnward: _onward, ...rest } = outcome;
    if (asked === undefined) return rest;
    const { localAccountIds, localOnward } = placedOnce(outcome, this.#localAccountIds);
    const [first, ...others] = localAccountIds;
    if (first === undefined) return rest;
    const onward = Object.entries(localOnward).map(
      ([accountId, { targets, isPlaced }]): [string, { targets: string[]; isPlaced: boolean }] => [
        accountId,
        { targets: [...targets], isPlaced },
      ],
    );
    return {
      ...rest,
      // The first has a member of its own, which nodes of 0.2.0 know.
      localAccountId: first,
      ...(others.length > 0 && { otherLocalAccountIds: others }),
      ...(onward.length > 0 && { localOnward: Object.fromEntries(onward) }),
    };
  }

  /** Undefined when the node no longer waits. */
  async #persist(report: Omit<Report, 'outboundId' | 'attemptId'>): Promise<Reported | undefined> {
    const { mailboxes, closed } = this.#ports;
    const { accountId, outboundId } = this.queued;
    const whole = { outboundId, attemptId: this.#deliveryId, ...report };
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await mailboxes.of(accountId).ask('reportDelivery', whole);
      } catch (error) {
        if (error instanceof ActorFault && error.code === 'no-such-account') return { refusal: 'noSuchOutbound' };
        this.#log.warn({ err: error }, 'the report of a delivery could not be committed yet');
      }
      await pauseUntil(closed, pauseMs);
      if (closed.aborted) return undefined;
    }
  }
}

function byDomain(recipients: Recipients): ReadonlyMap<string, Recipients> {
  const domains = new Map<string, Recipients>();
  for (const recipient of recipients) {
    const others = domains.get(recipient.domain);
    if (others === undefined) domains.set(recipient.domain, [recipient]);
    else others.push(recipient);
  }
  return domains;
}

/** The reason why no host of the domain was reached; undefined when one was. */
function unreachableBy(report: DeliveryReport | undefined): string | undefined {
  const isUnreached = report?.outcomes.every(({ kind, host }) => kind === 'temporary' && host === null) === true;
  return isUnreached && report.attempts.length > 0 ? report.outcomes[0]?.text : undefined;
}

function pauseUntil(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over);
  });
}
