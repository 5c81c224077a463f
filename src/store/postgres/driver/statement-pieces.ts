// Statements that consist of many pieces and run often: the text is cached by its pieces. The driver has fragments too, but each
// is a promise of a kilobyte, and their text is joined again for every execution.
import type { Sql, SqlTransaction } from './client.js';
import type { Octets } from './octet-parameters.js';

/** A part of a statement: its texts, and the values between them. */
export class StatementPiece {
  readonly texts: readonly string[] | string;
  readonly values: readonly (StatementPiece | PieceParameter)[];

  constructor(texts: readonly string[] | string, values: readonly (StatementPiece | PieceParameter)[]) {
    this.texts = texts;
    this.values = values;
  }
}

type PieceParameter = string | number | null | Uint8Array | Octets;

export interface Pieces {
  (texts: TemplateStringsArray, ...values: readonly (StatementPiece | PieceParameter)[]): StatementPiece;
  /** Unchanged text, one of a few, because each is cached. */
  unsafe(text: string): StatementPiece;
}

const NO_VALUES: readonly never[] = [];
/** Only statements whose pieces contain parameters as text produce more. */
const MOST_TEXTS = 5_000;

export const pieces: Pieces = Object.assign(
  (texts: TemplateStringsArray, ...values: readonly (StatementPiece | PieceParameter)[]) =>
    new StatementPiece(texts, values),
  { unsafe: (text: string) => new StatementPiece(text, NO_VALUES) },
);

/** A node in the tree of cached texts; the pieces on the path to it form the statement. */
class Shape {
  readonly next = new Map<StatementPiece['texts'] | typeof PARAMETER, Shape>();
  text: string | undefined;
}

/** Stands for a parameter in the path. */
const PARAMETER = Symbol('parameter');
let first = new Shape();
let kept = 0;

/** Runs a statement, which is prepared once per connection. */
export function execute<T extends readonly object[]>(sql: Sql | SqlTransaction, statement: StatementPiece) {
  const parameters: PieceParameter[] = [];
  const shape = shapeOf(statement, first, parameters);
  if (shape.text === undefined) {
    shape.text = textOf(statement);
    if (++kept > MOST_TEXTS) {
      first = new Shape();
      kept = 0;
    }
  }
  return sql.unsafe<T & object[]>(shape.text, parameters, { prepare: true });
}

/** Finds the node of the statement and collects its parameters. */
function shapeOf({ texts, values }: StatementPiece, before: Shape, parameters: PieceParameter[]): Shape {
  let shape = following(before, texts);
  for (const value of values) {
    if (value instanceof StatementPiece) shape = shapeOf(value, shape, parameters);
    else {
      parameters.push(value);
      shape = following(shape, PARAMETER);
    }
  }
  return shape;
}

function following(shape: Shape, key: StatementPiece['texts'] | typeof PARAMETER): Shape {
  const known = shape.next.get(key);
  if (known !== undefined) return known;
  const made = new Shape();
  shape.next.set(key, made);
  return made;
}

/** Line ends, with comments before and indentation after them. */
const LINE_ENDS = /\s*(--[^\n]*)?\n\s*/g;

/**
 * Writes the text on one line: the driver looks up a statement by its whole text each time, and first copies it. No literal
 * contains a line end.
 */
function textOf(statement: StatementPiece): string {
  let parameters = 0;
  const joined = ({ texts, values }: StatementPiece): string => {
    if (typeof texts === 'string') return texts;
    const places = values.map((value) => (value instanceof StatementPiece ? joined(value) : `$${++parameters}`));
    return String.raw({ raw: texts }, ...places);
  };
  return joined(statement).replace(LINE_ENDS, ' ');
}
