// What the parts of the statement of a mailbox commit have in common. Each part writes rows of one kind, of all accounts of the
// group that have passed the fence.
import { asParameters, type Recordset } from './recordsets.js';
import type { Pieces, StatementPiece } from './statement-pieces.js';

/** What of a statement writes rows of one kind. */
export type Part = (sql: Pieces, rows: readonly unknown[]) => StatementPiece;

/** The same; `table` makes a table of the rows. */
export type TablePart = (sql: Pieces, rows: readonly unknown[], table: Recordset) => StatementPiece;

export const json = (rows: readonly unknown[]) => JSON.stringify(rows);

/**
 * The accounts that passed the fence, as a list. As a join with `passed`, planned without hashes, a part compares each of its rows
 * with each account, and reads the rows once an account.
 */
export const PASSED = '(select ids from passed_ids)::uuid[]';

/** No JSON text has this character: within strings it is escaped. */
const BETWEEN_DOCUMENTS = '\x1e';

/** The document of a row of `rowsWithDocuments`, or of `rowWithDocument`. */
export const DOCUMENT = 'unnest::json';

/**
 * A recordset of `columns` whose rows have a JSON document each besides, or none, in `property`. Within the recordset the database would
 * parse a document three times: with the text, with its row, and as the column; here once.
 */
export function rowsWithDocuments(
  sql: Pieces,
  rows: readonly unknown[],
  property: string,
  columns: StatementPiece,
): StatementPiece {
  const documents: string[] = [];
  const others = (rows as readonly Readonly<Record<string, unknown>>[]).map(({ [property]: document, ...row }) => {
    documents.push(document === undefined || document === null ? '' : JSON.stringify(document));
    return row;
  });
  return sql`
    rows from (json_to_recordset(${json(others)}::json) as (${columns}),
      unnest(string_to_array(${documents.join(BETWEEN_DOCUMENTS)}::text, chr(30), '')))`;
}

/** The same of a single row. `columns`: one of a few texts. */
export function rowWithDocument(row: unknown, property: string, columns: string): StatementPiece {
  const { [property]: unnest, ...others } = row as Readonly<Record<string, unknown>>;
  return asParameters([{ ...others, unnest }], `x (${columns}, unnest json)`);
}
