// The syntax tree of a Sieve script (RFC 5228 §8.2): commands and tests are calls with arguments, tests and a block. parser.ts makes it,
// compile.ts gives it a meaning.

/** Both count from 1; `column` counts UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface StringNode {
  readonly text: string;
  readonly at: Position;
}

export type Argument =
  /** `name` in lower case, without the colon. */
  | { readonly kind: 'tag'; readonly name: string; readonly at: Position }
  | { readonly kind: 'number'; readonly value: number; readonly at: Position }
  /** `isList` is false for a single string outside brackets. */
  | {
      readonly kind: 'strings';
      readonly values: readonly StringNode[];
      readonly isList: boolean;
      readonly at: Position;
    };

/** A command or a test. */
export interface Call {
  /** In lower case. */
  readonly name: string;
  readonly at: Position;
  readonly args: readonly Argument[];
  /** The tests behind the arguments: one, or those in parentheses. */
  readonly tests: readonly Call[];
  /** Whether the tests are in parentheses. */
  readonly hasTestList: boolean;
  /** Undefined for a test, and for a command that ends with a semicolon. */
  readonly block: readonly Call[] | undefined;
}

/** One fault of a script; the message is a sentence without a full stop. */
export interface SieveFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Thrown within the compiler and the interpreter; their faces return it as a SieveFault. */
export class SieveError extends Error {
  readonly at: Position;

  constructor(at: Position, message: string) {
    super(message);
    this.at = at;
  }

  get fault(): SieveFault {
    return { line: this.at.line, column: this.at.column, message: this.message };
  }
}
