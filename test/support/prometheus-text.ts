// Parses Prometheus' text format as a reader does: families with help and type, samples with labels.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  help?: string;
  type?: string;
  readonly samples: Sample[];
}

/** @throws Error for a line that is not in the format, and for samples that belong to no family */
export function parseMetrics(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const family = (name: string) => {
    const found = families.get(name) ?? { samples: [] };
    families.set(name, found);
    return found;
  };
  for (const line of text.split('\n')) {
    const [, what, about, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (line === '') continue;
    if (what === 'HELP') family(about!).help = rest!;
    else if (what === 'TYPE') family(about!).type = rest!;
    else {
      const sample = sampleOf(line);
      const base = sample.name.replace(/_(bucket|sum|count)$/, '');
      const owner = families.get(sample.name) ?? families.get(base);
      if (owner === undefined) throw new Error(`a sample without a family: ${line}`);
      owner.samples.push(sample);
    }
  }
  return families;
}

/** Returns the sum of a family's samples that have these labels; NaN when there is none. */
export function sumOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  const samples = (families.get(name) ?? families.get(base))?.samples ?? [];
  const wanted = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return wanted.length === 0 ? Number.NaN : wanted.reduce((sum, { value }) => sum + value, 0);
}

function sampleOf(line: string): Sample {
  const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`not of the format: ${line}`);
  const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key!, text!]);
  return {
    name,
    labels: Object.fromEntries(pairs),
    value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
  };
}
