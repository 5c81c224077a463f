// The arguments on one line of a command (RFC 5804 §4): quoted strings, numbers, and the mark of a literal at the end. Pure.

/** A value of a command; `text` of a number has its digits. A string has valid UTF-8. */
export interface SieveArgument {
  readonly kind: 'string' | 'number';
  readonly text: string;
}

export interface SieveLiteral {
  /** Octets. */
  readonly size: number;
  /** The client waits until it is told to continue, which ManageSieve does not know. */
  readonly isSynchronizing: boolean;
}

/** The values before the literal; undefined when the line does not follow the grammar. */
export interface ScannedLine {
  readonly values: readonly SieveArgument[] | undefined;
  /** The mark at the end of the line, also of a line that does not follow the grammar, because its octets follow in any case. */
  readonly mark: SieveLiteral | undefined;
}

const MARK = /\{(\d{1,10})(\+?)\}$/;
const VALUE = / +(?:"([^"\\]*(?:\\["\\][^"\\]*)*)"|(\d{1,10})|\{\d{1,10}\+?\}$)|( *)$/y;

/** `line`: a line without its end, from behind the name of the command; each character is one octet. */
export function scanArguments(line: string): ScannedLine {
  const marked = MARK.exec(line);
  const mark = marked === null ? undefined : { size: Number(marked[1]), isSynchronizing: marked[2] === '' };
  const values: SieveArgument[] = [];
  for (VALUE.lastIndex = 0; VALUE.lastIndex < line.length; ) {
    const found = VALUE.exec(line);
    if (found === null) return { values: undefined, mark };
    const [, quoted, number] = found;
    if (quoted !== undefined) {
      const text = textOf(Buffer.from(quoted.replace(/\\(.)/g, '$1'), 'latin1'));
      if (text === undefined) return { values: undefined, mark };
      values.push({ kind: 'string', text });
    } else if (number !== undefined) values.push({ kind: 'number', text: number });
  }
  return { values, mark };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined when the octets are not UTF-8. */
export function textOf(octets: Uint8Array): string | undefined {
  try {
    return UTF8.decode(octets);
  } catch {
    return undefined;
  }
}
