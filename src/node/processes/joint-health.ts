// One health report for the processes of one parent: the checks of all processes, and whether all of them are present.
import type { HealthReport } from '../../gateways/http/health.js';

export type ProcessHealth =
  | { readonly number: number; readonly state: 'ready'; readonly report: HealthReport }
  /** `starting`: the process starts, or waits for its restart; `silent`: it does not answer. */
  | { readonly number: number; readonly state: 'starting' | 'silent' };

const ORDER = ['Healthy', 'Degraded', 'Unhealthy'] as const;

/**
 * The status of the worst process. A missing process makes it Degraded, because the others serve; a silent one makes it Unhealthy, because
 * it still gets clients.
 */
export function jointHealth(processes: readonly ProcessHealth[], totalDuration: number): HealthReport {
  const reports = processes.flatMap((each) => (each.state === 'ready' ? [each] : []));
  const checks = reports.flatMap(({ number, report }) =>
    report.checks.map((check) => ({ ...check, data: { ...check.data, process: number } })),
  );
  const own = { ...presence(processes), duration: totalDuration, exception: null, tags: ['infrastructure'] };
  const all = [{ name: 'processes', ...own }, ...checks];
  const worst = Math.max(...all.map(({ status }) => ORDER.indexOf(status)));
  return { status: ORDER[worst]!, totalDuration, checks: all };
}

function presence(processes: readonly ProcessHealth[]) {
  const numbers = (state: ProcessHealth['state']) =>
    processes.filter((each) => each.state === state).map(({ number }) => number);
  const [ready, starting, silent] = [numbers('ready'), numbers('starting'), numbers('silent')];
  const data = { processes: processes.length, ready: ready.length, starting, silent };
  if (silent.length > 0)
    return { status: 'Unhealthy' as const, description: `Of the processes, ${silent.join(', ')} do not answer.`, data };
  if (ready.length === 0)
    return { status: 'Unhealthy' as const, description: 'All processes are being started again.', data };
  if (starting.length > 0) {
    const description = `Of the processes, ${starting.join(', ')} are being started again.`;
    return { status: 'Degraded' as const, description, data };
  }
  return { status: 'Healthy' as const, description: `All ${processes.length} processes run.`, data };
}
