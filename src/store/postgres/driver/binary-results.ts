// Results in the binary form of the protocol: the octets themselves; the driver's text form is twice as long and both sides must
// convert it. A statement requests it with a condition that is always true, and the caller reads its rows raw, as arrays of
// columns.
import type { Fragment, Sql } from './client.js';
import { BINARY_RESULTS } from './octet-parameters.js';

export type BinaryColumn = Buffer | null;

/**
 * A condition for a statement whose results are read with `raw()`. In an aggregate it costs less as the last column than as a
 * condition of many rows.
 */
export const inBinary = (sql: Sql): Fragment => sql`${BINARY_RESULTS}::bytea is not null`;

/** Reads a column of type integer. */
export const integerOf = (column: BinaryColumn): number | null => column?.readInt32BE() ?? null;

/** Reads a column of type float8. */
export const doubleOf = (column: BinaryColumn): number | null => column?.readDoubleBE() ?? null;

/** Reads a column of type json. */
export const jsonOf = <T>(column: BinaryColumn): T | null => column && JSON.parse(column.toString());

/** Copies octets that are kept for long: a column is a slice of the memory that the socket has read, and keeps all of it. */
export const own = (octets: Uint8Array): Uint8Array => new Uint8Array(octets);
