// Runs the checks of `mansio doctor` once a day, on the node that owns the first shard. The report is in the store, so that every node shows
// it in health and metrics, also after a restart.
import type { Logger } from 'pino';
import { type Timing, WorkQueue } from '../../concurrency/work-queue.js';
import type { HealthCheck } from '../../gateways/http/health.js';
import type { StoredReports } from '../../store/settings.js';
import type { Finding, FindingStatus } from './finding.js';

export interface DoctorReport {
  /** ms since the epoch. */
  readonly at: number;
  readonly findings: readonly Finding[];
}

export interface DailyDoctor {
  /** The report of the last run, of whichever node; undefined before the first. */
  readonly last: DoctorReport | undefined;
  stop(): Promise<void>;
}

export interface DailyDoctorOptions {
  readonly reports: StoredReports;
  /** Whether this node is the one that runs the checks. */
  isChosen(): boolean;
  examine(): Promise<readonly Finding[]>;
  now(): number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly timing?: Timing;
}

const DAY_MS = 86_400_000;
/** After the jobs of a start. */
const FIRST_LOOK_MS = 60_000;
const LOOK_MS = 600_000;
const REPORT = 'doctor-report';
const JOB = 'doctor';

export function startDailyDoctor(options: DailyDoctorOptions): DailyDoctor {
  const { reports, isChosen, now, log, timing } = options;
  let last: DoctorReport | undefined;
  const queue = new WorkQueue({
    async work() {
      last = readReport(await reports.read(REPORT)) ?? last;
      const age = now() - (last?.at ?? Number.NEGATIVE_INFINITY);
      // A clock that was wrong must not stop the runs.
      if (isChosen() && (age >= DAY_MS || age < 0)) {
        last = { at: now(), findings: await options.examine() };
        await reports.write(REPORT, JSON.stringify(last));
        logFailures(last, log);
      }
      return LOOK_MS;
    },
    failed: (job, err) => log.warn({ err, job }, 'the daily checks could not run'),
    most: 1,
    backoff: { firstMs: LOOK_MS },
    ...(timing && { timing }),
  });
  queue.addAfter(JOB, FIRST_LOOK_MS);
  return {
    get last() {
      return last;
    },
    stop: () => queue.stop(),
  };
}

/** A report of another version may have another shape: it is not used. */
function readReport(text: string | undefined): DoctorReport | undefined {
  if (text === undefined) return undefined;
  const { at, findings } = JSON.parse(text) as Partial<DoctorReport>;
  return typeof at === 'number' && Array.isArray(findings) ? { at, findings } : undefined;
}

function logFailures({ findings }: DoctorReport, log: DailyDoctorOptions['log']): void {
  for (const { check, subject, status, detail, fix } of findings)
    if (status === 'fail') log.warn({ check, subject, detail, fix }, 'a daily check failed (mansio doctor)');
  log.info(countsOf(findings), 'the daily checks have run');
}

function countsOf(findings: readonly Finding[]): Readonly<Record<FindingStatus, number>> {
  const count = (status: FindingStatus) => findings.filter((each) => each.status === status).length;
  return { ok: count('ok'), warn: count('warn'), fail: count('fail') };
}

/** Health is public, so it shows numbers only. Degraded only: another node has the same DNS. */
export function doctorCheck(doctor: Pick<DailyDoctor, 'last'>): HealthCheck {
  return {
    name: 'doctor',
    tags: ['infrastructure'],
    run: async () => {
      const { last } = doctor;
      if (last === undefined) return { status: 'Healthy', description: 'The daily checks have not run yet.' };
      const counts = countsOf(last.findings);
      const data = { ...counts, at: new Date(last.at).toISOString() };
      if (counts.fail === 0) return { status: 'Healthy', description: 'No daily check failed.', data };
      const description = `${counts.fail} of ${last.findings.length} daily checks failed: "mansio doctor" says which.`;
      return { status: 'Degraded', description, data };
    },
  };
}
