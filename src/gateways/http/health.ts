// Runs named checks in parallel, each with a time limit, and joins them into one report. The report is cached briefly and shared by all
// callers, so that a public endpoint cannot load the database. A node that begins to stop reports it at once.
import { atMost } from '../../concurrency/time-bounds.js';
import type { Log } from './exchange.js';

type HealthStatus = 'Healthy' | 'Degraded' | 'Unhealthy';

export interface HealthResult {
  readonly status: HealthStatus;
  readonly description?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface HealthCheck {
  readonly name: string;
  readonly tags: readonly string[];
  /** A cached report is not reused after this value changes. */
  state?(): string;
  run(): Promise<HealthResult>;
}

interface CheckReport {
  readonly name: string;
  readonly status: HealthStatus;
  /** ms */
  readonly duration: number;
  readonly description: string | null;
  readonly exception: string | null;
  readonly tags: string[];
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface HealthReport {
  readonly status: HealthStatus;
  /** ms */
  readonly totalDuration: number;
  readonly checks: CheckReport[];
}

export interface HealthOptions {
  readonly checks: readonly HealthCheck[];
  /** A check without an answer after this is Unhealthy; 5,000 ms when absent. */
  readonly timeoutMs?: number;
  /** How long a report is reused; 1,000 ms when absent. */
  readonly keepMs?: number;
  /** ms of a monotonic clock. */
  readonly now: () => number;
  readonly log: Log;
}

export function createHealth(options: HealthOptions): () => Promise<HealthReport> {
  const { checks, timeoutMs = 5000, keepMs = 1000, now, log } = options;
  let running: { readonly state: string; readonly report: Promise<HealthReport> } | undefined;
  let last: { readonly state: string; readonly at: number; readonly report: HealthReport } | undefined;
  const stateNow = () => checks.map((check) => check.state?.()).join();

  async function report(): Promise<HealthReport> {
    const started = now();
    const results = await Promise.all(checks.map((check) => runCheck(check, timeoutMs, now, log)));
    return { status: worst(results), totalDuration: now() - started, checks: results };
  }

  return async () => {
    const state = stateNow();
    if (last?.state === state && now() - last.at < keepMs) return last.report;
    if (running?.state !== state) running = { state, report: report() };
    const begun = running;
    const result = await begun.report;
    if (running === begun) {
      running = undefined;
      last = { state, at: now(), report: result };
    }
    return result;
  };
}

async function runCheck(check: HealthCheck, timeoutMs: number, now: () => number, log: Log): Promise<CheckReport> {
  const started = now();
  let result: HealthResult = { status: 'Unhealthy', description: `no answer within ${timeoutMs} ms` };
  let exception: string | null = null;
  try {
    const answer = check.run();
    if (await atMost(answer, timeoutMs)) result = await answer;
  } catch (error) {
    log.warn({ err: error, check: check.name }, 'health check failed');
    // Only the class of the error: messages name hosts and users.
    exception = error instanceof Error ? error.name : 'Error';
    result = { status: 'Unhealthy', description: 'the check failed' };
  }
  return {
    name: check.name,
    status: result.status,
    duration: now() - started,
    description: result.description ?? null,
    exception,
    tags: [...check.tags],
    data: result.data ?? null,
  };
}

function worst(checks: readonly CheckReport[]): HealthStatus {
  if (checks.some(({ status }) => status === 'Unhealthy')) return 'Unhealthy';
  return checks.some(({ status }) => status === 'Degraded') ? 'Degraded' : 'Healthy';
}
