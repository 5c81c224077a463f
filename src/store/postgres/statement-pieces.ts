// Statements of many pieces that are carried out often: the text is kept by the pieces that it is made of. The driver has fragments
// too, but each is a promise of a kilobyte, and their text is joined anew for every execution.
import type { Sql, SqlTransaction } from './client.js';
import type { Octets } from './octet-parameters.js';

/** A part of a statement, with what takes the places between its texts. */
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
  /** Text as it is, one of a few: each is kept. */
  unsafe(text: string): StatementPiece;
}

const NO_VALUES: readonly never[] = [];
/** More are made only by statements whose pieces have something of the parameters in them. */
const MOST_TEXTS = 5_000;

export const pieces: Pieces = Object.assign(
  (texts: TemplateStringsArray, ...values: readonly (StatementPiece | PieceParameter)[]) =>
    new StatementPiece(texts, values),
  { unsafe: (text: string) => new StatementPiece(text, NO_VALUES) },
);

/** What a statement is whose pieces so far are those on the way here. */
class Shape {
  readonly next = new Map<StatementPiece['texts'] | typeof PARAMETER, Shape>();
  text: string | undefined;
}

/** The place of a parameter. */
const PARAMETER = Symbol('parameter');
let first = new Shape();
let kept = 0;

/** Carries a statement out, prepared once a connection. */
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

/** Collects the parameters on its way. */
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

/** Ends of lines, with comments before and indentation behind them. */
const LINE_ENDS = /\s*(--[^\n]*)?\n\s*/g;

/** On one line: the driver looks a statement up by its whole text each time, and copies the text before. No literal has a line of its own. */
function textOf(statement: StatementPiece): string {
  let parameters = 0;
  const joined = ({ texts, values }: StatementPiece): string => {
    if (typeof texts === 'string') return texts;
    const places = values.map((value) => (value instanceof StatementPiece ? joined(value) : `$${++parameters}`));
    return String.raw({ raw: texts }, ...places);
  };
  return joined(statement).replace(LINE_ENDS, ' ');
}
