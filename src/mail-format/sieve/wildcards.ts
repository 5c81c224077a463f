// The patterns of `:matches` (RFC 5228 §2.7.1): `*` stands for any text, `?` for one character, a backslash makes the next character plain.
// The pieces between stars are found from left to right, each as early as possible, so nothing is tried twice: a `*` stands for the
// shortest text that lets the rest match (RFC 5229 §3.2).

/** A character of a piece; null is `?`. */
type Piece = readonly (string | null)[];

export interface Pattern {
  /** The pieces before, between and behind the stars. */
  readonly pieces: readonly Piece[];
}

export function patternOf(text: string): Pattern {
  const pieces: (string | null)[][] = [[]];
  let isEscaped = false;
  for (const char of text) {
    const piece = pieces.at(-1)!;
    if (isEscaped || (char !== '\\' && char !== '*' && char !== '?')) {
      piece.push(char);
      isEscaped = false;
    } else if (char === '\\') isEscaped = true;
    else if (char === '?') piece.push(null);
    else pieces.push([]);
  }
  if (isEscaped) pieces.at(-1)!.push('\\');
  return { pieces };
}

/**
 * Returns what each wildcard stands for, cut from `shown`, or undefined when the pattern does not match. `folded` is what the pattern is
 * compared with; both have the same length in characters.
 */
export function matchPattern(
  { pieces }: Pattern,
  folded: readonly string[],
  shown: readonly string[],
  spend: (characters: number) => void,
): string[] | undefined {
  const found: string[] = [];
  const [first = [], ...rest] = pieces;
  const last = rest.pop();
  spend(folded.length);
  if (!isAt(first, folded, 0)) return undefined;
  take(first, shown, 0, found);
  if (last === undefined) return first.length === folded.length ? found : undefined;
  let at = first.length;
  const end = folded.length - last.length;
  for (const piece of rest) {
    const start = find(piece, folded, at, end, spend);
    if (start === undefined) return undefined;
    found.push(shown.slice(at, start).join(''));
    take(piece, shown, start, found);
    at = start + piece.length;
  }
  if (at > end || !isAt(last, folded, end)) return undefined;
  found.push(shown.slice(at, end).join(''));
  take(last, shown, end, found);
  return found;
}

function find(
  piece: Piece,
  text: readonly string[],
  from: number,
  end: number,
  spend: (characters: number) => void,
): number | undefined {
  for (let at = from; at + piece.length <= end; at++) {
    let i = 0;
    while (i < piece.length && (piece[i] === null || piece[i] === text[at + i])) i++;
    if (i === piece.length) return at;
    // Pieces that begin alike at every character are what takes time.
    if (i > 8) spend(i);
  }
  return undefined;
}

function isAt(piece: Piece, text: readonly string[], at: number): boolean {
  if (at < 0 || at + piece.length > text.length) return false;
  return piece.every((char, i) => char === null || char === text[at + i]);
}

/** Adds what the question marks of a piece stand for. */
function take(piece: Piece, shown: readonly string[], at: number, found: string[]): void {
  for (const [i, char] of piece.entries()) if (char === null) found.push(shown[at + i]!);
}
