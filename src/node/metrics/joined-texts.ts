// Joins texts in Prometheus' format to one: every family has one HELP and one TYPE line, and its samples stand together, as the format
// demands. The samples of different texts differ by a label.

/** The order of families is that of their first appearance. */
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
      let family = families.get(name);
      if (family === undefined) families.set(name, (family = { head: [], samples: [] }));
      if (!family.head.some((known) => known.startsWith(`# ${kind} `))) family.head.push(line);
      samples = here.get(name) ?? [];
      here.set(name, samples);
    }
    for (const [name, lines] of here) families.get(name)!.samples.push(...lines);
  }
  return [...families.values()].map(({ head, samples }) => `${[...head, ...samples].join('\n')}\n`).join('\n');
}
