// Parses `{n}` at the end of a line, which announces octets that are not lines (RFC 9051 §4.3, RFC 7888, RFC 3516). It is pure.

export interface LiteralMark {
  /** In octets; above 2^53 - 1 for a number that cannot be a size. */
  readonly size: number;
  /** `~{n}`, which may contain NUL. */
  readonly isBinary: boolean;
  /** Whether the client waits for `+ ` before it sends the octets: `{n}`, but not `{n+}`. */
  readonly isSynchronizing: boolean;
  /** Where the mark begins in the line. */
  readonly from: number;
}

const SIZE = /^\d+\+?$/;

/**
 * A synchronizing mark counts only where a string may begin. Elsewhere it is text, and the client waits only for the reply.
 * A non-synchronizing mark always counts, because octets follow it.
 */
export function literalMark(line: string): LiteralMark | undefined {
  if (!line.endsWith('}')) return undefined;
  const open = line.lastIndexOf('{');
  const inside = line.slice(open + 1, -1);
  if (open < 0 || !SIZE.test(inside)) return undefined;
  const isBinary = line[open - 1] === '~';
  const from = isBinary ? open - 1 : open;
  const isSynchronizing = !inside.endsWith('+');
  if (isSynchronizing && !mayBegin(line, from)) return undefined;
  return { size: Number.parseInt(inside, 10), isBinary, isSynchronizing, from };
}

function mayBegin(line: string, from: number): boolean {
  const before = line[from - 1];
  return (before === ' ' || before === '(') && !endsInQuotes(line, from);
}

/** Tells whether a quoted string is open at `end`; a quoted string never continues in the next line. */
function endsInQuotes(line: string, end: number): boolean {
  let isOpen = false;
  for (let at = 0; at < end; at++) {
    const character = line[at];
    if (character === '"') isOpen = !isOpen;
    else if (character === '\\' && isOpen) at++;
  }
  return isOpen;
}
