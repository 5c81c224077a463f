// Reads the messages that were noted as feedback reports, one at a time, on the node that owns the first shard. What a report says counts
// when it is about a hosted domain, was sent to an address that the domain names for reports, and is new.
import type { Logger } from 'pino';
import { type Timing, WorkQueue } from '../../../concurrency/work-queue.js';
import { type Dns, DnsFailure } from '../../../net/dns/resolver.js';
import type { BlobStore } from '../../../store/blobs.js';
import { StoreFault } from '../../../store/errors.js';
import type { ArrivedReports, WaitingReport } from '../../../store/feedback/arrived-reports.js';
import { type FeedbackReport, UnreadableReport } from '../feedback-reports.js';
import { type FeedbackMeter, NO_METER, type ReadOutcome } from '../meter.js';
import { readReportFile } from './report-file.js';
import { isPostmaster } from './report-intake.js';
import { reportPart } from './report-part.js';
import { isAddressee } from './report-senders.js';

export interface ReportReadingOptions {
  readonly store: Pick<ArrivedReports, 'due' | 'postpone' | 'drop' | 'count'>;
  readonly blobs: Pick<BlobStore, 'index' | 'read'>;
  readonly dns: Dns;
  hostedDomains(): Promise<readonly string[]>;
  /** Whether this node is the one that reads. */
  isChosen(): boolean;
  /** ms since the epoch. */
  now(): number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly meter?: FeedbackMeter;
  readonly timing?: Timing;
}

const LOOK_MS = 2_000;
const AGAIN_MS = 50;
const REPORTS_A_LOOK = 20;
/** A message is accepted, or refused, sooner. */
const UNSTORED_MS = 3_600_000;
const RETRY_MS = 600_000;
/** DNS does not answer for this long: the report is given up. */
const GIVE_UP_MS = 86_400_000;
const DAY_MS = 86_400_000;
/** The age of a period that counts. Repeated reports are known for longer. */
const OLDEST_MS = 30 * DAY_MS;
const JOB = 'feedback reports';

export function startReportReading(options: ReportReadingOptions): { stop(): Promise<void> } {
  const { store, isChosen, log, timing } = options;
  const reading = new ReportReading(options);
  const queue = new WorkQueue({
    async work(_, { signal }) {
      if (!isChosen()) return LOOK_MS;
      const due = await store.due(REPORTS_A_LOOK);
      for (const report of due) {
        if (signal.aborted) return LOOK_MS;
        await reading.read(report);
      }
      return due.length === REPORTS_A_LOOK ? AGAIN_MS : LOOK_MS;
    },
    failed: (job, err) => log.warn({ err, job }, 'feedback reports could not be read'),
    most: 1,
    backoff: { firstMs: LOOK_MS, longestMs: 60_000 },
    ...(timing && { timing }),
  });
  queue.addAfter(JOB, LOOK_MS);
  return { stop: () => queue.stop() };
}

class ReportReading {
  readonly #options: ReportReadingOptions;
  readonly #meter: FeedbackMeter;

  constructor(options: ReportReadingOptions) {
    this.#options = options;
    this.#meter = options.meter ?? NO_METER;
  }

  /** @throws StoreFault */
  async read(due: WaitingReport): Promise<void> {
    const { store, log } = this.#options;
    const { blob, sender, ageMs } = due;
    try {
      const report = await this.#parsed(due);
      if (report === undefined) {
        if (ageMs < UNSTORED_MS) await store.postpone(blob, Math.max(500, Math.min(ageMs, 60_000)));
        else await store.drop(blob);
        return;
      }
      const outcome = await this.#take(due, report);
      const { kind, domain, organization } = report;
      this.#meter.read(kind, outcome);
      log.info({ blob, sender, kind, domain, organization, outcome }, 'a feedback report was read');
    } catch (error) {
      if (error instanceof DnsFailure && ageMs < GIVE_UP_MS) return store.postpone(blob, RETRY_MS);
      if (error instanceof StoreFault && error.temporary) throw error;
      // Any other error is caused by the report: it must not hold up the other reports.
      const isBug = !(error instanceof UnreadableReport) && !(error instanceof DnsFailure);
      if (isBug) log.warn({ blob, sender, err: error }, 'a feedback report could not be read');
      else log.info({ blob, sender, reason: error.message }, 'a feedback report could not be read');
      await store.drop(blob);
      this.#meter.read('unknown', 'malformed');
    }
  }

  /** Undefined while the message is not stored. @throws UnreadableReport, StoreFault */
  async #parsed({ blob, recipients }: WaitingReport): Promise<FeedbackReport | undefined> {
    const { blobs } = this.#options;
    const index = await blobs.index(blob);
    if (index === undefined) return undefined;
    const part = reportPart(index, recipients.some(isPostmaster));
    if (part === undefined) throw new UnreadableReport('the message has no report');
    return readReportFile(part, await blobs.read(blob, part.bodyStart, part.bodyEnd));
  }

  /** @throws StoreFault, DnsFailure */
  async #take(due: WaitingReport, report: FeedbackReport): Promise<ReadOutcome> {
    const { store, now, dns } = this.#options;
    const refused = async (outcome: ReadOutcome) => {
      await store.drop(due.blob);
      return outcome;
    };
    const { domain, begin } = report;
    const hosted = await this.#hostedOf(domain);
    if (hosted === undefined) return refused('unhosted');
    if (begin < now() - OLDEST_MS || begin > now() + DAY_MS) return refused('too_old');
    if (!(await isAddressee(dns, { ...report, hosted }, due.recipients))) return refused('misdirected');
    const counted = await store.count(due, { ...report, hosted });
    if (counted === 'tooMany') return 'too_many';
    if (counted === 'counted') this.#measure(report);
    return counted;
  }

  /** The hosted domain that the domain is, or is below. */
  async #hostedOf(domain: string): Promise<string | undefined> {
    const hosted = new Set(await this.#options.hostedDomains());
    for (let name = domain; name !== ''; name = name.includes('.') ? name.slice(name.indexOf('.') + 1) : '')
      if (hosted.has(name)) return name;
    return undefined;
  }

  #measure(report: FeedbackReport): void {
    if (report.kind === 'dmarc')
      for (const { dkim, spf, messages } of report.sums) this.#meter.messages(dkim || spf ? 'pass' : 'fail', messages);
    else
      for (const { result, sessions } of report.sums)
        this.#meter.sessions(result === 'success' ? 'success' : 'failure', sessions);
  }
}
