// Helpers for the parts of the mailbox commit's statement. Each part writes rows of one kind, for all accounts of the group that
// have passed the fence.
import { asParameters, type Recordset } from '../driver/recordsets.js';
import type { Pieces, StatementPiece } from '../driver/statement-pieces.js';

/** A part of a statement that writes rows of one kind. */
export type Part = (sql: Pieces, rows: readonly unknown[]) => StatementPiece;

/** A part that gets its rows through `table`, which makes a table of them. */
export type TablePart = (sql: Pieces, rows: readonly unknown[], table: Recordset) => StatementPiece;

export const json = (rows: readonly unknown[]) => JSON.stringify(rows);

/**
 * The accounts that passed the fence, as a list. With a join to `passed`, planned without hashes, a part would compare each of
 * its rows with each account, and read the rows once per account.
 */
export const PASSED = '(select ids from passed_ids)::uuid[]';

/** No JSON text contains this character: strings escape it. */
const BETWEEN_DOCUMENTS = '\x1e';

/** SQL of the document of a row of `rowsWithDocuments` or `rowWithDocument`. */
export const DOCUMENT = 'unnest::json';

/**
 * A recordset of `columns` whose rows also have a JSON document, or none, in `property`. Inside the recordset the database would
 * parse a document three times: with the text, with its row, and as the column; here it parses it once.
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

/** Does the same for a single row. `columns`: one of a few texts, so that there are few statements. */
export function rowWithDocument(row: unknown, property: string, columns: string): StatementPiece {
  const { [property]: unnest, ...others } = row as Readonly<Record<string, unknown>>;
  return asParameters([{ ...others, unnest }], `x (${columns}, unnest json)`);
}
