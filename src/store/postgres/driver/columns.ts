// The column of each property of a row, one line each. Every statement about the row takes its column lists from these lines. All
// lists are constant texts, so each statement keeps the same text and is prepared once.

export interface Column {
  /** Name of the column in the table. */
  readonly name: string;
  /** SQL type of the property in a JSON row. */
  readonly type: string;
  /** SQL of the stored value, from the property of a JSON row. */
  readonly stored: (property: string) => string;
  /** SQL of the property, from the column of the table. */
  readonly read: (column: string) => string;
}

/** A kind of column; `name` is its name in the table, by default that of the property in snake case. */
type Kind = (name?: string) => Partial<Column>;

const kind =
  (type: string, rest: Partial<Column> = {}): Kind =>
  (name) => ({ type, ...rest, ...(name !== undefined && { name }) });

export const text = kind('text');
export const texts = kind('text[]');
export const uuid = kind('uuid');
/** null is stored as null. */
export const flag = kind('boolean');
/** The property may be absent, which means false. */
export const certainFlag = kind('boolean', { stored: (property) => `coalesce(${property}, false)` });
/** Exact below 2^53. */
export const integer = kind('bigint', { read: (column) => `${column}::float8` });
/** ms since the epoch. */
export const time = kind('double precision', {
  stored: (property) => `to_timestamp(${property} / 1000.0)`,
  read: (column) => `(extract(epoch from ${column}) * 1000)::float8`,
});
/** Octets, as hexadecimal text in the JSON row. */
export const hex = kind('text', {
  stored: (property) => `decode(${property}, 'hex')`,
  read: (column) => `encode(${column}, 'hex')`,
});

export class Columns<Row extends object> {
  readonly #columns: ReadonlyMap<keyof Row & string, Column>;
  /** Names of the table's columns. */
  readonly names: string;
  /** Column definitions for `json_to_recordset`; JSON rows use the names of the properties. */
  readonly recordset: string;
  /** Select list that reads the table's columns as properties. */
  readonly selected: string;
  /** Arguments for `jsonb_build_object`. */
  readonly pairs: string;

  constructor(columns: ReadonlyMap<keyof Row & string, Column>) {
    this.#columns = columns;
    this.names = this.#list(({ name }) => name);
    this.recordset = this.#list(({ type }, property) => `"${property}" ${type}`);
    this.selected = this.#list(({ name, read }, property) => `${read(name)} as "${property}"`);
    this.pairs = this.#list(({ name, read }, property) => `'${property}', ${read(name)}`);
  }

  only<P extends keyof Row & string>(...properties: readonly P[]): Columns<Pick<Row, P>> {
    return new Columns<Pick<Row, P>>(new Map(properties.map((property) => [property, this.#columns.get(property)!])));
  }

  except<P extends keyof Row & string>(...properties: readonly P[]): Columns<Omit<Row, P>> {
    const others = new Map<string, Column>(this.#columns);
    for (const property of properties) others.delete(property);
    return new Columns<Omit<Row, P>>(others as Map<keyof Omit<Row, P> & string, Column>);
  }

  /** Select list of the values for `names`, from a recordset; `replaced` has other SQL for a property. */
  stored(replaced: { readonly [P in keyof Row]?: string } = {}): string {
    return this.#list(({ stored }, property) => replaced[property] ?? stored(`"${property}"`));
  }

  /** List for the `set` of an update: `value` makes SQL from the names of the column and of the property. */
  set(value: (name: string, property: string) => string): string {
    return this.#list(({ name }, property) => `${name} = ${value(name, `"${property}"`)}`);
  }

  #list(text: (column: Column, property: keyof Row & string) => string): string {
    return [...this.#columns].map(([property, column]) => text(column, property)).join(', ');
  }
}

/** Declares one column per property. */
export function columnsOf<Row extends object>(
  columns: {
    readonly [P in keyof Row]-?: Partial<Column>;
  },
): Columns<Row> {
  const entries = Object.entries<Partial<Column>>(columns).map(([property, column]) => {
    const { name = snakeCase(property), type = 'text', stored = same, read = same } = column;
    return [property as keyof Row & string, { name, type, stored, read }] as const;
  });
  return new Columns(new Map(entries));
}

const same = (sql: string): string => sql;
const snakeCase = (property: string): string => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
