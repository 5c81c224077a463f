// One delivery of one email: begun by its mailbox, carried domain by domain side by side, and reported to the mailbox as the
// domains come back. What a remote host has taken is committed before anything else waits; a report that cannot be committed
// is tried until the node ends, because without it the message would go out twice.
import type { Logger } from 'pino';
import { clock } from '../../store/clock.js';
import { StoreFault } from '../../store/errors.js';
import type { QueuedOutbound, ReportKind } from '../../store/outbound.js';
import type { Mailboxes, MailboxProtocol } from '../mailbox/protocol.js';
import { ActorFault } from '../runtime/errors.js';
import type { Outcome, Payload, Reply } from '../runtime/protocol.js';
import { atMost } from '../runtime/time-bounds.js';
import { Claim, type ClaimOptions } from './claim.js';
import type { Courier, DeliveryReport } from './courier.js';
import type { DomainLanes } from './domain-lanes.js';
import type { MessageFactSource } from './message-facts.js';
import type { DeliveryMeter } from './meter.js';
import { failedBy, unreachedAgain, withoutTemporary } from './outcomes.js';

export interface DeliveryPorts extends Omit<ClaimOptions, 'confirm'> {
  readonly mailboxes: Mailboxes;
  readonly courier: Courier;
  readonly lanes: DomainLanes;
  readonly facts: MessageFactSource;
  /** Of this process, as its entry in the store has it. */
  readonly incarnation: string;
  readonly log: Logger;
  readonly meter: DeliveryMeter;
  /** Aborted when the node waits for no report any longer. */
  readonly closed: AbortSignal;
}

/** Told when all that is left of a delivery stands in line, and when that is over. */
type Waits = (waits: boolean) => void;

export type Ended =
  /** It has not begun after all. */
  | { readonly kind: 'released' }
  | { readonly kind: 'reported'; readonly reportDue: ReportKind | null }
  /** There is nothing to do, or somebody else does it. */
  | { readonly kind: 'refused' }
  /** It could not be begun. */
  | { readonly kind: 'fault'; readonly error: unknown }
  /** The node stops before the outcome could be committed. */
  | { readonly kind: 'lost' };

type Started = Reply<MailboxProtocol, 'startDelivery'>;
type Report = Payload<MailboxProtocol, 'reportDelivery'>;
type Reported = Outcome<MailboxProtocol, 'reportDelivery'>;

/** Domains that end together are one commit. */
const TOGETHER_MS = 10;
/** For a courier to let go of what it has been told to. */
const LETTING_GO_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
const PLACING_MS = 2_000;

export class Delivery {
  readonly #ports: DeliveryPorts;
  readonly #queued: QueuedOutbound;
  readonly #log: Logger;
  readonly #attempt: { readonly id: string; readonly by: string };
  readonly #abort = new AbortController();
  readonly #claim: Claim;
  /** Reports of domains that the mailbox does not have yet. */
  #unreported: DeliveryReport[] = [];
  #open = new Set<string>();
  /** Of those that are open: they wait for their turn. */
  readonly #inLine = new Set<string>();
  readonly #waits: Waits;
  /** Recipients were left without an attempt, or it was cut short. */
  #cut = false;
  #news = () => {};
  readonly #handedTo = new Set<string>();
  readonly #placing: Promise<void>[] = [];

  /** To be made before the delivery is begun in the store. */
  constructor(ports: DeliveryPorts, queued: QueuedOutbound, attemptId: string, waits: Waits) {
    this.#ports = ports;
    this.#waits = waits;
    this.#queued = queued;
    const { accountId, outboundId } = queued;
    this.#attempt = { id: attemptId, by: ports.incarnation };
    this.#log = ports.log.child({ accountId, outboundId, attemptId: this.#attempt.id });
    this.#claim = new Claim({ ...ports, confirm: () => this.#confirm() });
  }

  /** Cuts short what is under way. What a remote host has answered still counts. */
  abort(): void {
    this.#abort.abort();
    setTimeout(() => this.#letGo(), LETTING_GO_MS).unref();
  }

  /** Begins it, and makes it. */
  async run(): Promise<Ended> {
    const { mailboxes } = this.#ports;
    const { accountId, outboundId, interrupted: supersedes } = this.#queued;
    let started: Started;
    try {
      const begun = await mailboxes
        .of(accountId)
        .ask('startDelivery', { outboundId, attempt: this.#attempt, supersedes });
      if (begun.refusal !== undefined) return { kind: 'refused' };
      started = begun.reply;
    } catch (error) {
      if (error instanceof ActorFault && error.code === 'no-such-account') return { kind: 'refused' };
      return { kind: 'fault', error };
    }
    return this.carryOn(started);
  }

  /** Makes a delivery that its mailbox has begun. */
  async carryOn(started: Started): Promise<Ended> {
    const { meter } = this.#ports;
    const reported = await this.#carry(started);
    await Promise.all(this.#placing);
    const ageMs = Math.max(0, clock.now() - started.createdAt);
    if (reported === undefined) return { kind: 'lost' };
    if (reported.refusal !== undefined) {
      this.#log.warn({ refusal: reported.refusal }, 'a delivery was taken over while it was under way');
      meter.ended('superseded', ageMs);
      return { kind: 'refused' };
    }
    const { status, nextRetryAt, reportDue } = reported.reply;
    meter.ended(this.#cut ? 'interrupted' : status, ageMs);
    this.#log.info({ status, nextRetryAt, ageMs }, 'delivery over');
    return { kind: 'reported', reportDue };
  }

  /** What the mailbox said to the last report; undefined when it never got it. */
  async #carry(started: Started): Promise<Reported | undefined> {
    for (const [domain, recipients] of byDomain(started.recipients)) {
      this.#open.add(domain);
      if (this.#ports.lanes.isFull(domain)) this.#inLine.add(domain);
      void this.#attemptDomain(started, domain, recipients).then((report) => this.#settle(domain, report));
    }
    this.#tellWhetherItWaits();
    for (;;) {
      if (this.#unreported.length === 0 && this.#open.size > 0) await this.#next();
      const until = performance.now() + TOGETHER_MS;
      while (this.#open.size > 0 && (await atMost(this.#next(), until - performance.now())));
      const reports = this.#unreported;
      this.#unreported = [];
      const isOver = this.#open.size === 0;
      const reported = await this.#report(started, reports, isOver);
      if (isOver || reported?.reply === undefined) {
        // Somebody else has taken its place.
        if (!isOver) this.abort();
        return reported;
      }
    }
  }

  /** Resolves when a domain comes back. */
  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#news = resolve;
    });
  }

  #settle(domain: string, report: DeliveryReport | undefined): void {
    // It was let go of before.
    if (!this.#open.delete(domain)) return;
    this.#inLine.delete(domain);
    if (report !== undefined) this.#unreported.push(report);
    this.#tellWhetherItWaits();
    this.#news();
  }

  #tellWhetherItWaits(): void {
    this.#waits(this.#open.size > 0 && this.#open.size === this.#inLine.size);
  }

  #letGo(): void {
    if (this.#open.size > 0) this.#log.warn({ domains: [...this.#open] }, 'deliveries did not end when they were to');
    for (const domain of this.#open) {
      this.#cut = true;
      this.#settle(domain, undefined);
    }
  }

  /** Never rejects; undefined when nothing is known of any recipient. */
  async #attemptDomain(
    { blob, size, sender }: Started,
    domain: string,
    recipients: Started['recipients'],
  ): Promise<DeliveryReport | undefined> {
    const { lanes, courier, meter } = this.#ports;
    const { accountId, outboundId } = this.#queued;
    const { signal } = this.#abort;
    const entry = await lanes.enter(domain, signal);
    if (this.#inLine.delete(domain)) this.#tellWhetherItWaits();
    if (entry.kind === 'unreached') return unreachedAgain(recipients, entry.text);
    if (entry.kind === 'aborted') {
      this.#cut = true;
      return undefined;
    }
    let report: DeliveryReport | undefined;
    try {
      if (!(await this.#claim.holds()) || signal.aborted) {
        this.#cut = true;
        return undefined;
      }
      const began = performance.now();
      report = await courier
        .deliver({ accountId, outboundId, sender, domain, recipients, blob, size, signal })
        .catch((error: unknown) => this.#failed(error, recipients));
      const kinds = report.outcomes.map(({ kind }) => kind);
      meter.attempted(kinds, performance.now() - began);
      if (!signal.aborted || !kinds.includes('temporary')) return report;
      this.#cut = true;
      return withoutTemporary(report);
    } finally {
      lanes.leave(domain, { unreached: signal.aborted ? undefined : unreachedBy(report) });
    }
  }

  #failed(error: unknown, recipients: Started['recipients']): DeliveryReport {
    if (error instanceof StoreFault) this.#log.warn({ err: error }, 'a message could not be read for its delivery');
    else this.#log.error({ err: error }, 'a bug: the courier failed');
    return failedBy(recipients);
  }

  async #confirm(): Promise<boolean> {
    const reported = await this.#persist({ outcomes: [], attempts: [], isOver: false, isInterrupted: false });
    return reported?.reply !== undefined;
  }

  async #report(started: Started, reports: readonly DeliveryReport[], isOver: boolean): Promise<Reported | undefined> {
    const reported = await this.#persist({
      outcomes: reports.flatMap(({ outcomes }) => outcomes.map((outcome) => this.#once(outcome))),
      attempts: reports.flatMap(({ attempts }) =>
        attempts.map((attempt) => ({ ...attempt, recipients: [...attempt.recipients] })),
      ),
      isOver,
      isInterrupted: isOver && this.#cut,
    });
    const handedOver = reported?.reply?.handedOver ?? [];
    if (handedOver.length > 0) this.#placing.push(this.#place(started.blob, handedOver));
    return reported;
  }

  /** A mailbox gets one copy, however many of its addresses are named. */
  #once(outcome: DeliveryReport['outcomes'][number]): Report['outcomes'][number] {
    if (outcome.kind !== 'delivered' || outcome.handedTo === undefined) return outcome;
    const { handedTo, ...rest } = outcome;
    if (this.#handedTo.has(handedTo)) return rest;
    this.#handedTo.add(handedTo);
    return outcome;
  }

  /** Undefined when the node waits no longer. */
  async #persist(report: Omit<Report, 'outboundId' | 'attemptId'>): Promise<Reported | undefined> {
    const { mailboxes, closed } = this.#ports;
    const { accountId, outboundId } = this.#queued;
    const whole = { outboundId, attemptId: this.#attempt.id, ...report };
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await mailboxes.of(accountId).ask('reportDelivery', whole);
      } catch (error) {
        if (error instanceof ActorFault && error.code === 'no-such-account') return { refusal: 'noSuchOutbound' };
        this.#log.warn({ err: error }, 'what became of a delivery could not be committed yet');
      }
      await pauseUntil(closed, pauseMs);
      if (closed.aborted) return undefined;
    }
  }

  /** The rows are the promise: what is not placed now, their owner delivers from them. */
  async #place(blob: string, rows: Reply<MailboxProtocol, 'reportDelivery'>['handedOver']): Promise<void> {
    const { mailboxes, facts } = this.#ports;
    const receivedAt = clock.now();
    try {
      const { summary } = await facts.of(blob);
      const asks = rows.map(({ accountId, inboundId }) =>
        mailboxes.of(accountId).ask('deliver', { inboundId, blob, receivedAt, summary }, { deadlineMs: PLACING_MS }),
      );
      await Promise.all(asks);
    } catch (error) {
      this.#log.info({ err: error }, 'mail for a mailbox of this store is placed later');
    }
  }
}

function byDomain(recipients: Started['recipients']): ReadonlyMap<string, Started['recipients']> {
  const domains = new Map<string, Started['recipients']>();
  for (const recipient of recipients) {
    const others = domains.get(recipient.domain);
    if (others === undefined) domains.set(recipient.domain, [recipient]);
    else others.push(recipient);
  }
  return domains;
}

/** Why nobody of the domain was reached, when that is so. */
function unreachedBy(report: DeliveryReport | undefined): string | undefined {
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
