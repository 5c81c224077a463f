// Results in the binary form of the protocol: octets as they are, where the driver's text form is twice as long and is converted by
// both sides. A statement asks for it by a condition that is always true, and reads its rows raw: arrays of columns.
import type { Fragment, Sql } from './client.js';
import { BINARY_RESULTS } from './octet-parameters.js';

export type BinaryColumn = Buffer | null;

/**
 * To be a condition of a statement, of which the results are read with `raw()`. As the last column it costs an aggregate less than
 * as a condition of many rows.
 */
export const inBinary = (sql: Sql): Fragment => sql`${BINARY_RESULTS}::bytea is not null`;

/** Of type integer. */
export const integerOf = (column: BinaryColumn): number | null => column?.readInt32BE() ?? null;

/** Of type float8. */
export const doubleOf = (column: BinaryColumn): number | null => column?.readDoubleBE() ?? null;

/** Of type json. */
export const jsonOf = <T>(column: BinaryColumn): T | null => column && JSON.parse(column.toString());

/** To be kept for long: a column lies in the memory of what the socket has read, and keeps all of it. */
export const own = (octets: Uint8Array): Uint8Array => new Uint8Array(octets);
