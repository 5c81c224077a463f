// Results in the binary form of the protocol: octets as they are, where the driver's text form is twice as long and is converted by
// both sides. A statement asks for it by a condition that is always true, and reads its rows raw: arrays of columns.
import type { Fragment, Sql } from './client.js';
import { BINARY_RESULTS } from './octet-parameters.js';

export type BinaryColumn = Buffer | null;

/** To be a condition of a statement, of which the results are read with `raw()`. They lie in memory that others share. */
export const inBinary = (sql: Sql): Fragment => sql`${BINARY_RESULTS}::bytea is not null`;

/** Of type integer. */
export const integerOf = (column: BinaryColumn): number | null => column?.readInt32BE() ?? null;

/** Of type float8. */
export const doubleOf = (column: BinaryColumn): number | null => column?.readDoubleBE() ?? null;
