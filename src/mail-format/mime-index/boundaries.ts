// The delimiters of all open multiparts (RFC 2046 §5.1.1), any of which can end a body. They are looked up by the text of a line, so a line
// takes the same time at any depth. When two levels share a delimiter, it belongs to the inner one.

const DASH = 0x2d;

/** The octets of the longest line, without its line feed, that may be a delimiter. */
export const LONGEST_DELIMITER_LINE = 1024;

export interface Delimiter {
  /** The level of its multipart. */
  readonly level: number;
  /** True when the delimiter ends the multipart: `--boundary--`. */
  readonly closing: boolean;
}

export class Boundaries {
  readonly #levels = new Map<string, number[]>();

  get none(): boolean {
    return this.#levels.size === 0;
  }

  /** `boundary` holds octets that were read as latin1. */
  open(boundary: string, level: number): void {
    const levels = this.#levels.get(boundary);
    if (levels === undefined) this.#levels.set(boundary, [level]);
    else levels.push(level);
  }

  /** Removes the innermost delimiter of this name. */
  close(boundary: string): void {
    const levels = this.#levels.get(boundary);
    levels?.pop();
    if (levels?.length === 0) this.#levels.delete(boundary);
  }

  clear(): void {
    this.#levels.clear();
  }

  /**
   * Returns the delimiter that the line [start, end) of `data` is, if any. The line begins with two dashes; `end` excludes the line feed.
   */
  match(data: Buffer, start: number, end: number): Delimiter | undefined {
    if (end - start > LONGEST_DELIMITER_LINE) return undefined;
    let stop = end;
    while (stop > start && isSpace(data[stop - 1]!)) stop--;
    if (stop - start < 3) return undefined;
    const text = data.toString('latin1', start + 2, stop);
    const level = this.#levels.get(text)?.at(-1);
    if (level !== undefined) return { level, closing: false };
    if (data[stop - 1] !== DASH || data[stop - 2] !== DASH) return undefined;
    const closed = this.#levels.get(text.slice(0, -2))?.at(-1);
    return closed === undefined ? undefined : { level: closed, closing: true };
  }
}

function isSpace(octet: number): boolean {
  return octet === 0x20 || octet === 0x09 || octet === 0x0d;
}
