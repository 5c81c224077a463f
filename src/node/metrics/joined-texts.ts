// Joins texts in Prometheus' format: every family gets one HELP and one TYPE line, followed by all its samples, as the format demands. A
// label distinguishes the samples of different texts.

/** Keeps the families in the order of their first appearance. */
export function joinedTexts(texts: readonly string[]): string {
  const families = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const text of texts) {
    const here = new Map<string, string[]>();
    let samples: string[] | undefined;
    for (const line of text.split('\n')) {
      const [, kind, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name === undefined) {
        if (line !== '') samples?.push(line);
        continue;
      }
      const family = families.get(name) ?? { head: [], samples: [] };
      families.set(name, family);
      if (!family.head.some((known) => known.startsWith(`# ${kind} `))) family.head.push(line);
      samples = here.get(name) ?? [];
      here.set(name, samples);
    }
    for (const [name, lines] of here) families.get(name)!.samples.push(...lines);
  }
  return [...families.values()].map(({ head, samples }) => `${[...head, ...samples].join('\n')}\n`).join('\n');
}
