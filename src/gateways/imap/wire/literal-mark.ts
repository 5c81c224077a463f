// `{n}` at the end of a line: that octets follow which are no lines (RFC 9051 §4.3, RFC 7888, RFC 3516). Pure: text in, mark out.

export interface LiteralMark {
  /** Octets; above 2^53 - 1 for a number that is no size of anything. */
  readonly size: number;
  /** `~{n}`: NUL is allowed. */
  readonly isBinary: boolean;
  /** `{n}`: the client waits for `+ ` before it sends the octets. `{n+}`: it does not. */
  readonly isSynchronizing: boolean;
  /** Where the mark begins in the line. */
  readonly from: number;
}

const SIZE = /^\d+\+?$/;

/**
 * A synchronizing mark counts only where a string may begin: elsewhere it is text, and a client waits for no more than the answer.
 * A non-synchronizing mark counts wherever it is, because octets follow it.
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

/** Whether a quoted string is open at `end`; none goes on in the next line. */
function endsInQuotes(line: string, end: number): boolean {
  let isOpen = false;
  for (let at = 0; at < end; at++) {
    const character = line[at];
    if (character === '"') isOpen = !isOpen;
    else if (character === '\\' && isOpen) at++;
  }
  return isOpen;
}
