// What is wrong with a Sieve script, as the server says: `line 3, column 5: there is no command foo`.

export interface ScriptFault {
  /** Both count from 1; undefined when the fault has no place. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly message: string;
}

const PLACED = /^line (\d+), column (\d+): (.*)$/s;

/** The faults of the content that a refusal names; undefined when it refuses something else. */
export function faultsIn(error: unknown): readonly ScriptFault[] | undefined {
  if (!(error instanceof Error && 'errors' in error)) return undefined;
  const { content } = error.errors as { readonly content?: readonly string[] };
  return content?.map((text) => {
    const [, line, column, message] = PLACED.exec(text) ?? [];
    if (message === undefined) return { line: undefined, column: undefined, message: text };
    return { line: Number(line), column: Number(column), message };
  });
}

/** The index of a place in the text, or of the end of its line. */
export function indexOf(text: string, line: number, column: number): number {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return Math.min(before + Math.min(column - 1, lines[line - 1]?.length ?? 0), text.length);
}
