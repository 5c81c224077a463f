// Sends the reports of past days, on the node that owns the first shard: those about DMARC (`dmarc-reports.ts`) or about TLS
// (`tls-reports.ts`). A report that cannot be sent is tried again, while others go on.
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { type Timing, WorkQueue } from '../../../concurrency/work-queue.js';
import type { DueOwnReport } from '../../../store/feedback/own-reports.js';
import { ownerDomain } from '../owner-domain.js';
import { dayOf } from './count-tally.js';

/** The account that sends reports, and its address at a hosted domain. */
export interface ReportSender {
  readonly accountId: string;
  readonly address: string;
  readonly domain: string;
}

/** What every kind of report needs to be mailed. */
export interface ReportMailing {
  readonly hostname: string;
  /** Undefined while no account has `postmaster@` a hosted domain. */
  sender(): Promise<ReportSender | undefined>;
  send(
    accountId: string,
    mail: { readonly message: Uint8Array; readonly to: string; readonly id: string },
  ): Promise<void>;
  /** ms since the epoch. */
  now(): number;
}

/** The reports of one kind. */
export interface DailyReports {
  readonly about: 'DMARC' | 'TLS';
  /** Reports of days before `before`. */
  due(before: string, limit: number): Promise<readonly DueOwnReport[]>;
  /** Sends a report to all who want it, each once, also when it is called again. @throws when it has to be tried again */
  send(due: DueOwnReport, signal: AbortSignal): Promise<void>;
}

interface ReportSendingOptions {
  /** Whether this node is the one that sends. */
  isChosen(): boolean;
  /** ms since the epoch. */
  now(): number;
  readonly log: Pick<Logger, 'warn'>;
  readonly timing?: Timing;
}

const LOOK_MS = 10_000;
/** After midnight: every node has written its counts, and clocks may differ. */
const SETTLED_MS = 600_000;
/** Looks at a time; the reports of a day leave within hours at most. */
const REPORTS_A_LOOK = 50;
const RETRY_MS = 600_000;
const LONGEST_RETRY_MS = 7_200_000;
const DAY_S = 86_400;
const JOB = 'look';
/** Reports that wait or are being sent. */
const MOST_WAITING = 10_000;

export function startReportSending(
  reports: DailyReports,
  { isChosen, now, log, timing }: ReportSendingOptions,
): { stop(): Promise<void> } {
  const backoff = { firstMs: RETRY_MS, longestMs: LONGEST_RETRY_MS };
  const queue = new WorkQueue({
    async work(key, { signal }) {
      if (!isChosen()) return undefined;
      const [domain = '', day = ''] = key.split(' ');
      await reports.send({ domain, day }, signal);
      return undefined;
    },
    failed: (key, err) => log.warn({ err, report: key }, `a report about ${reports.about} is not sent yet`),
    workers: 2,
    most: MOST_WAITING,
    backoff,
    ...(timing && { timing }),
  });
  let refused = 0;
  // It waits for no report.
  const looks = new WorkQueue({
    async work() {
      if (!isChosen()) return LOOK_MS;
      const today = dayOf(now() - SETTLED_MS);
      // Those that back off, and those that the queue has refused, are among them: others come after them.
      const limit = REPORTS_A_LOOK + queue.size + Math.min(refused, MOST_WAITING);
      const due = await reports.due(today, limit);
      // Subdomains of one owner share its part of the queue and of the workers.
      refused = due.filter(({ domain, day }) => !queue.add(`${domain} ${day}`, ownerDomain(domain))).length;
      return LOOK_MS;
    },
    failed: (_, err) => log.warn({ err }, `reports about ${reports.about} could not be looked for`),
    most: 1,
    backoff,
    ...(timing && { timing }),
  });
  looks.addAfter(JOB, LOOK_MS);
  return {
    async stop() {
      await Promise.all([looks.stop(), queue.stop()]);
    },
  };
}

/** The period of a report, in s since the epoch. */
export function periodOf({ day }: Pick<DueOwnReport, 'day'>): { readonly begin: number; readonly end: number } {
  const begin = Date.parse(day) / 1000;
  return { begin, end: begin + DAY_S - 1 };
}

/** A UUID of version 8 (RFC 9562 §5.8) that the text alone decides. */
export function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
