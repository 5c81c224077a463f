// The lists of senders as they are written: an address or a domain per line.

export interface SenderTexts {
  readonly allowed: string;
  readonly blocked: string;
}

/** Commas, semicolons and spaces part names as lines do. */
export function namesIn(text: string): string[] {
  return text.split(/[\s,;]+/).filter((name) => name !== '');
}

/** The names that a refusal is about, as they were written. Its fields are `allowed[0]`, `blocked[2]` … */
export function refusedNames(error: unknown, texts: SenderTexts): readonly string[] {
  const errors = typeof error === 'object' && error !== null && 'errors' in error ? (error.errors ?? {}) : {};
  return Object.keys(errors).flatMap((field) => {
    const [, list, index] = /^(allowed|blocked)\[(\d+)\]$/.exec(field) ?? [];
    const name = list === undefined ? undefined : namesIn(texts[list as keyof SenderTexts])[Number(index)];
    return name === undefined ? [] : [name];
  });
}
