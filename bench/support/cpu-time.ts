// Reads the processor time of processes (Linux): everything shares the cores, so a rate means little without it.
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

/** Linux reports times in units of 10 ms, whatever the frequency of its clock. */
const TICKS_PER_SECOND = 100;

interface Usage {
  readonly parent: number;
  readonly own: number;
  /** The time of children that ended. */
  readonly ended: number;
}

/** Returns the seconds of the processes and of all their descendants, by name; `machine` counts all processes. */
export async function cpuSeconds<K extends string>(
  roots: Readonly<Record<K, readonly number[]>>,
): Promise<Record<K | 'machine', number>> {
  const usages = new Map<number, Usage>();
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'latin1').catch(() => '');
    // The name in parentheses may hold any character.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    if (fields.length > 15) {
      usages.set(Number(entry), {
        parent: fields[1]!,
        own: fields[11]! + fields[12]!,
        ended: fields[13]! + fields[14]!,
      });
    }
  }
  const treeOf = (pid: number): number => {
    const usage = usages.get(pid);
    if (usage === undefined) return 0;
    const children = [...usages].filter(([, { parent }]) => parent === pid).map(([child]) => child);
    return children.reduce((sum, child) => sum + treeOf(child), usage.own + usage.ended);
  };
  const [user, nice, system, , , irq, softirq] = (await readFile('/proc/stat', 'latin1'))
    .split('\n')[0]!
    .split(/ +/)
    .slice(1)
    .map(Number);
  const seconds = { machine: (user! + nice! + system! + irq! + softirq!) / TICKS_PER_SECOND } as Record<
    K | 'machine',
    number
  >;
  for (const name of Object.keys(roots) as K[]) {
    seconds[name] = roots[name].reduce((sum, pid) => sum + treeOf(pid), 0) / TICKS_PER_SECOND;
  }
  return seconds;
}

/** Returns the seconds that one process has used, without its children. */
export function ownCpuSeconds(pid: number): Promise<number> {
  return secondsIn(`/proc/${pid}/stat`);
}

/** Returns the seconds of the first thread of one process, which runs the event loop in Node.js. */
export function eventLoopSeconds(pid: number): Promise<number> {
  return secondsIn(`/proc/${pid}/task/${pid}/stat`);
}

async function secondsIn(path: string): Promise<number> {
  const stat = await readFile(path, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Returns the shares of what all cores could have done in the time, in words. */
export function sharesOf(used: Readonly<Record<string, number>>, seconds: number): string {
  const cores = availableParallelism();
  const { machine = 0, ...named } = used;
  const known = Object.values(named).reduce((sum, each) => sum + each, 0);
  const percent = (share: number) => `${Math.max(0, (share / seconds / cores) * 100).toFixed(0)} %`;
  const words = Object.entries(named).map(([name, each]) => `${name} ${percent(each)}`);
  return `of ${cores} cores: ${words.join(', ')}, other programs ${percent(machine - known)}`;
}

export function difference<K extends string>(after: Record<K, number>, before: Record<K, number>): Record<K, number> {
  const entries = (Object.keys(after) as K[]).map((name) => [name, after[name] - before[name]]);
  return Object.fromEntries(entries) as Record<K, number>;
}
