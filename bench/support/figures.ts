// Prints figures as text, one line each with name, value and unit; computes percentiles of samples.

export function figure(name: string, value: number, unit: string, note = ''): void {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  process.stdout.write(
    `  ${name.padEnd(58)} ${value.toFixed(digits).padStart(9)} ${unit}${note === '' ? '' : `  ${note}`}\n`,
  );
}

export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Prints the medians, and the ratio of the first to each other one. `times` holds ms by the name of the server, Mansio's first. */
export function comparison(name: string, goal: number, times: readonly (readonly [string, readonly number[]])[]): void {
  const [first, ...others] = times.map(([server, samplesMs]) => ({ server, ms: percentile(samplesMs, 0.5) }));
  if (first === undefined) return;
  if (others.length === 0) {
    figure(`${name}, ${first.server}`, first.ms, 'ms');
    return;
  }
  const beside = others.map(({ server, ms }) => {
    const ratio = first.ms / ms;
    return `${server} ${ms.toFixed(2)} ms, ratio ${ratio.toFixed(2)}, ${withGoal(ratio, goal)}`;
  });
  figure(name, first.ms, 'ms', beside.join('; '));
}

export function latency(name: string, samplesMs: readonly number[], goalMs?: number): void {
  const median = percentile(samplesMs, 0.5);
  const goal = goalMs === undefined ? '' : `, ${withGoal(median, goalMs)}`;
  figure(`${name}, median`, median, 'ms', `p99 ${percentile(samplesMs, 0.99).toFixed(2)} ms${goal}`);
}

export function withGoal(value: number, goal: number): string {
  return `goal ${goal}: ${value <= goal ? 'reached' : 'MISSED'}`;
}

export function withLeast(value: number, goal: number): string {
  return `goal at least ${goal}: ${value >= goal ? 'reached' : 'MISSED'}`;
}
