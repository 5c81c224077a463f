// The number of processors that this process may use: those of the scheduler, or fewer where a control group limits their time. Node.js 20
// ignores control groups.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { posix } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';

/** At least 1; a part of a processor counts as one. */
export function availableProcessors(
  schedulable: number = availableParallelism(),
  read: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): number {
  const limits = [schedulable, ...quotas(read)];
  return Math.max(1, Math.ceil(Math.min(...limits)));
}

/** The limits, in processors, of the process's own control group and of its ancestors. */
function quotas(read: (path: string) => string): readonly number[] {
  const text = (path: string) => {
    try {
      return read(path);
    } catch {
      return '';
    }
  };
  const groups = text('/proc/self/cgroup').split('\n');
  const unified = groups.find((line) => line.startsWith('0::'))?.slice(3);
  const found: number[] = [];
  for (let at = unified ?? '/'; ; at = posix.dirname(at)) {
    const [quota, period] = text(posix.join(CGROUPS, at, 'cpu.max'))
      .split(' ')
      .map(Number);
    if (quota! > 0 && period! > 0) found.push(quota! / period!);
    if (posix.dirname(at) === at) break;
  }
  // Version 1, in which a container sees its own group here.
  const quota = Number(text(posix.join(CGROUPS, 'cpu/cpu.cfs_quota_us')));
  const period = Number(text(posix.join(CGROUPS, 'cpu/cpu.cfs_period_us')));
  if (quota > 0 && period > 0) found.push(quota / period);
  return found;
}
