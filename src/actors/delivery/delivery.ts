// One delivery of one email: begun by its mailbox, carried domain by domain side by side, and reported to the mailbox as the
// domains come back. A domain that is to be tried again is, when it is due, as long as the delivery goes on for the sake of
// another one: no domain waits for another. What a remote host has taken is committed before anything else waits; a report
// that cannot be committed is tried until the node ends, because without it the message would go out twice.
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { atMost } from '../../bounds/time-bounds.js';
import { clock } from '../../store/clock.js';
import { StoreFault } from '../../store/errors.js';
import type { QueuedOutbound, ReportKind } from '../../store/outbound.js';
import type { DeliveryMailboxes, DeliveryProtocol } from '../mailbox/outbound/delivery-protocol.js';
import { ActorFault } from '../runtime/errors.js';
import type { Outcome, Payload, Reply } from '../runtime/protocol.js';
import type { Courier, DeliveryReport } from './courier.js';
import { DeliveryLease, type DeliveryLeaseOptions } from './delivery-lease.js';
import type { DomainLimiter } from './domain-limiter.js';
import type { DeliveryMeter } from './meter.js';
import { failedBy, unreachedAgain, withoutTemporary } from './outcomes.js';

export interface DeliveryPorts extends Omit<DeliveryLeaseOptions, 'confirm'> {
  readonly mailboxes: DeliveryMailboxes;
  readonly courier: Courier;
  readonly lanes: DomainLimiter;
  /** Of this process, as its entry in the store has it. */
  readonly incarnation: string;
  readonly log: Logger;
  readonly meter: DeliveryMeter;
  /** Aborted when the node waits for no report any longer. */
  readonly closed: AbortSignal;
  /** False when the node begins no attempts any more. */
  mayBegin(): boolean;
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

type Started = Reply<DeliveryProtocol, 'startDelivery'>;
type Recipients = Started['recipients'];
type Report = Payload<DeliveryProtocol, 'reportDelivery'>;
type Reported = Outcome<DeliveryProtocol, 'reportDelivery'>;

/** For the recipients of one domain. */
interface DomainAttempt {
  readonly domain: string;
  readonly recipients: Recipients;
  /** For its turn, or for a connection. */
  isWaiting: boolean;
}

interface DomainReport extends DeliveryReport {
  /** Ids of recipients that were not tried, because no connection was free. */
  readonly postponed: readonly string[];
}

/** Domains that end together are one commit. */
const TOGETHER_MS = 10;
/** For a courier to let go of what it has been told to. */
const LETTING_GO_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** For the next look at what is due. */
const SHORTEST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 3_600_000;

export class Delivery {
  readonly #ports: DeliveryPorts;
  readonly #queued: QueuedOutbound;
  readonly #log: Logger;
  readonly #attempt: { readonly id: string; readonly by: string };
  readonly #abort = new AbortController();
  readonly #claim: DeliveryLease;
  /** Reports of domains that the mailbox does not have yet. */
  #unreported: DomainReport[] = [];
  readonly #open = new Set<DomainAttempt>();
  /** Ids of recipients whose attempts were begun and whose answers are not committed. */
  readonly #begun = new Set<string>();
  /** When the first recipient that waits is due, by the monotonic clock. */
  #dueAt: number | undefined;
  readonly #waits: Waits;
  /** Recipients were left without an attempt, or it was cut short. */
  #cut = false;
  #cameBack = () => {};
  readonly #handedTo = new Set<string>();

  /** To be made before the delivery is begun in the store. */
  constructor(ports: DeliveryPorts, queued: QueuedOutbound, attemptId: string, waits: Waits) {
    this.#ports = ports;
    this.#waits = waits;
    this.#queued = queued;
    const { accountId, outboundId } = queued;
    this.#attempt = { id: attemptId, by: ports.incarnation };
    this.#log = ports.log.child({ accountId, outboundId, attemptId: this.#attempt.id });
    // One a domain, and an email may go to a thousand.
    setMaxListeners(0, this.#abort.signal);
    this.#claim = new DeliveryLease({ ...ports, confirm: () => this.#confirm() });
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
    this.#begin(started, started);
    for (;;) {
      if (this.#unreported.length === 0 && this.#open.size > 0) await this.#news();
      const until = performance.now() + TOGETHER_MS;
      while (this.#open.size > 0 && (await atMost(this.#next(), until - performance.now())));
      const reports = this.#unreported;
      this.#unreported = [];
      const isOver = this.#open.size === 0;
      const reported = await this.#report(reports, isOver);
      if (isOver || reported?.reply === undefined) {
        // Somebody else has taken its place.
        if (!isOver) this.abort();
        return reported;
      }
      for (const { outcomes, postponed } of reports) {
        for (const id of [...outcomes.map(({ recipientId }) => recipientId), ...postponed]) this.#begun.delete(id);
      }
      this.#begin(started, reported.reply);
    }
  }

  /** Begins the attempts that the mailbox has begun and this delivery has not. */
  #begin(started: Started, { recipients = [], retryInMs = null }: Pick<Started, 'recipients' | 'retryInMs'>): void {
    this.#dueAt = retryInMs === null ? undefined : performance.now() + Math.max(SHORTEST_WAIT_MS, retryInMs);
    for (const [domain, each] of byDomain(recipients.filter(({ id }) => !this.#begun.has(id)))) {
      for (const { id } of each) this.#begun.add(id);
      const attempt = { domain, recipients: each, isWaiting: false };
      this.#open.add(attempt);
      void this.#attemptDomain(started, attempt).then((report) => this.#settle(attempt, report));
    }
    this.#tellWhetherItWaits();
  }

  /** Resolves when a domain comes back, or a recipient that waits is due. */
  async #news(): Promise<void> {
    const next = this.#next();
    if (this.#dueAt === undefined || !this.#ports.mayBegin()) return next;
    await atMost(next, Math.min(LONGEST_WAIT_MS, this.#dueAt - performance.now()));
  }

  /** Resolves when a domain comes back. */
  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#cameBack = resolve;
    });
  }

  #settle(attempt: DomainAttempt, report: DomainReport | undefined): void {
    // It was let go of before.
    if (!this.#open.delete(attempt)) return;
    if (report !== undefined) this.#unreported.push(report);
    this.#tellWhetherItWaits();
    this.#cameBack();
  }

  #wait(attempt: DomainAttempt, isWaiting: boolean): void {
    if (attempt.isWaiting === isWaiting) return;
    attempt.isWaiting = isWaiting;
    this.#tellWhetherItWaits();
  }

  #tellWhetherItWaits(): void {
    this.#waits(this.#open.size > 0 && [...this.#open].every(({ isWaiting }) => isWaiting));
  }

  #letGo(): void {
    const domains = [...this.#open].map(({ domain }) => domain);
    if (domains.length > 0) this.#log.warn({ domains }, 'deliveries did not end when they were to');
    for (const attempt of this.#open) {
      this.#cut = true;
      this.#settle(attempt, undefined);
    }
  }

  /** Never rejects; undefined when nothing is known of any recipient. */
  async #attemptDomain(started: Started, attempt: DomainAttempt): Promise<DomainReport | undefined> {
    const { lanes } = this.#ports;
    const { domain, recipients } = attempt;
    const { accountId } = this.#queued;
    const { signal } = this.#abort;
    const turn = lanes.enter(domain, accountId, signal);
    if (turn instanceof Promise) this.#wait(attempt, true);
    const entry = await turn;
    this.#wait(attempt, false);
    if (entry.kind === 'unreached') return { ...unreachedAgain(recipients, entry.text), postponed: [] };
    if (entry.kind === 'aborted') {
      this.#cut = true;
      return undefined;
    }
    let report: DeliveryReport | undefined;
    try {
      report = await this.#deliver(started, attempt);
      return report && this.#whole(report, recipients);
    } finally {
      lanes.leave(domain, accountId, { unreached: signal.aborted ? undefined : unreachedBy(report) });
    }
  }

  /** What the courier says; undefined when it was not asked. */
  async #deliver({ blob, size, sender }: Started, attempt: DomainAttempt): Promise<DeliveryReport | undefined> {
    const { courier, meter } = this.#ports;
    const { accountId, outboundId } = this.#queued;
    const { domain, recipients } = attempt;
    const { signal } = this.#abort;
    if (!(await this.#claim.holds()) || signal.aborted) {
      this.#cut = true;
      return undefined;
    }
    const began = performance.now();
    const waits = (isWaiting: boolean) => this.#wait(attempt, isWaiting);
    const report = await courier
      .deliver({ accountId, outboundId, sender, domain, recipients, blob, size, signal, waits })
      .catch((error: unknown) => this.#failed(error, recipients));
    const kinds = report.outcomes.map(({ kind }) => kind);
    if (kinds.length > 0) meter.attempted(kinds, performance.now() - began);
    return report;
  }

  /** With the recipients that were not tried; of an attempt that was cut short, what the remote hosts have said. */
  #whole(report: DeliveryReport, recipients: Recipients): DomainReport {
    const tried = new Set(report.outcomes.map(({ recipientId }) => recipientId));
    const postponed = recipients.map(({ id }) => id).filter((id) => !tried.has(id));
    const isCut = postponed.length > 0 || report.outcomes.some(({ kind }) => kind === 'temporary');
    if (!this.#abort.signal.aborted || !isCut) return { ...report, postponed };
    this.#cut = true;
    return { ...withoutTemporary(report), postponed: [] };
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

  #report(reports: readonly DomainReport[], isOver: boolean): Promise<Reported | undefined> {
    return this.#persist({
      outcomes: reports.flatMap(({ outcomes }) => outcomes.map((outcome) => this.#once(outcome))),
      attempts: reports.flatMap(({ attempts }) =>
        attempts.map((attempt) => ({ ...attempt, recipients: [...attempt.recipients] })),
      ),
      isOver,
      isInterrupted: isOver && this.#cut,
      postponed: reports.flatMap(({ postponed }) => postponed),
      begins: !isOver && !this.#abort.signal.aborted && this.#ports.mayBegin(),
    });
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
