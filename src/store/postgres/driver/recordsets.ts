// Passes rows to a statement as a table. Several rows travel as JSON, a single one as parameters: for JSON the database builds a
// table and looks up its columns in every statement, which takes a quarter of a small commit.
import { pieces, StatementPiece } from './statement-pieces.js';

/** Makes a table of rows for a `from`. `table`: its name, and in parentheses its columns with their types; one of a few texts. */
export type Recordset = (rows: readonly unknown[], table: string) => StatementPiece;

export const asJson: Recordset = (rows, table) =>
  pieces`json_to_recordset(${JSON.stringify(rows)}::json) as ${pieces.unsafe(table)}`;

type Value = string | number | null;

interface SingleRow {
  readonly texts: readonly string[];
  readonly writers: readonly ((row: Readonly<Record<string, unknown>>) => Value)[];
}

const known = new Map<string, SingleRow>();

/** Makes the table of a single row. */
export const asParameters: Recordset = ([row], table) => {
  let single = known.get(table);
  if (single === undefined) {
    single = singleRow(table);
    known.set(table, single);
  }
  const { texts, writers } = single;
  return new StatementPiece(
    texts,
    writers.map((write) => write(row as Readonly<Record<string, unknown>>)),
  );
};

function singleRow(table: string): SingleRow {
  const [, name, columns] = /^(\w+) \((.*)\)$/s.exec(table)!;
  const texts: string[] = [];
  const writers: SingleRow['writers'][number][] = [];
  let before = '(select ';
  for (const column of columns!.split(',')) {
    const [, property, type] = /^\s*"?(\w+)"? (.*?)\s*$/.exec(column)!;
    texts.push(before);
    const write = writerOf(type!);
    writers.push((row) => write(row[property!] ?? null));
    // The driver misreads parameters of type boolean when they are texts or null.
    before = `::${type === 'boolean' ? 'integer::boolean' : type} as "${property}", `;
  }
  texts.push(`${before.slice(0, -2)}) as ${name}`);
  return { texts, writers };
}

function writerOf(type: string): (value: unknown) => Value {
  if (type === 'json' || type === 'jsonb') return (value) => (value === null ? null : JSON.stringify(value));
  if (type === 'boolean') return (value) => (value === null ? null : Number(value));
  if (type.endsWith('[]')) return (value) => (value === null ? null : arrayText(value as readonly unknown[]));
  return (value) => value as Value;
}

const QUOTED = /["\\]/g;

/** Writes an array in the form that the database reads. */
function arrayText(values: readonly unknown[]): string {
  return `{${values.map((value) => `"${String(value).replace(QUOTED, '\\$&')}"`).join()}}`;
}
