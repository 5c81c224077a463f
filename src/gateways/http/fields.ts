// Structs of what clients send and receive, as OpenAPI and error messages need them: the struct's `type` names its JSON schema
// (json-schema.ts), and each has a message for values that it refuses. superstruct's own leaves print the refused value, which a hostile
// value (deep, or with a `toString` of its own) turns into an exception.
import { array, Struct, type } from 'superstruct';
import type { AnyStruct } from '../../actors/runtime/protocol.js';
import { isUuid } from '../../mail-format/ids.js';
import { type JsonSchema, noted } from './openapi/json-schema.js';

export type Fields = Readonly<Record<string, AnyStruct>>;

const LARGEST_PAGE_SIZE = 100;
const DAY_MS = 86_400_000;

/** A struct without parts. `notes` are added to the JSON schema of its type; they are stored as its `schema`, which wrapping keeps. */
export const leaf = <T>(
  type: string,
  validator: (value: unknown) => boolean | string,
  notes: JsonSchema = {},
): Struct<T, null> => new Struct<T, null>({ type, schema: notes as never, validator });

export const text = (notes?: JsonSchema) =>
  leaf<string>('string', (value) => typeof value === 'string' || 'must be a string', notes);

export const flag = (notes?: JsonSchema) =>
  leaf<boolean>('boolean', (value) => typeof value === 'boolean' || 'must be true or false', notes);

export const whole = (notes?: JsonSchema) =>
  leaf<number>('integer', (value) => Number.isSafeInteger(value) || 'must be an integer', notes);

/** An integer from `least` to `most`. */
export const wholeWithin = (least: number, most: number) =>
  leaf<number>(
    'integer',
    (value) =>
      (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) ||
      `must be an integer from ${least} to ${most}`,
    { minimum: least, maximum: most },
  );

/** Text of one line: 1 to `most` characters, not all of them blank. */
export const line = (most: number, notes?: JsonSchema) =>
  leaf<string>(
    'string',
    (value) => {
      if (typeof value !== 'string') return 'must be a string';
      if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value)) return 'must not hold control characters';
      return (value.trim() !== '' && [...value].length <= most) || `must have 1 to ${most} characters`;
    },
    { minLength: 1, maxLength: most, ...notes },
  );

export const choice = <const T extends string>(...values: readonly T[]): Struct<T, Record<T, T>> =>
  new Struct<T, Record<T, T>>({
    type: 'enums',
    schema: Object.fromEntries(values.map((value) => [value, value])) as Record<T, T>,
    validator: (value) => values.includes(value as T) || `must be one of ${values.join(', ')}`,
  });

/** An integer that the store's integers hold. */
export const smallWhole = (notes?: JsonSchema) =>
  leaf<number>(
    'integer',
    (value) => (Number.isInteger(value) && value === ((value as number) | 0)) || 'must be an integer of 32 bits',
    { format: 'int32', ...notes },
  );

export const decimal = (notes?: JsonSchema) =>
  leaf<number>('number', (value) => typeof value === 'number' || 'must be a number', notes);

/** An object whose members are not described. */
export const anyObject = () =>
  leaf<Readonly<Record<string, unknown>>>(
    'anyObject',
    (value) => (typeof value === 'object' && value !== null && !Array.isArray(value)) || 'must be an object',
  );

/** ISO 8601 in UTC with milliseconds and `Z`, as Date.toISOString writes it. */
export const timestamp = (notes?: JsonSchema) =>
  leaf<string>(
    'timestamp',
    (value) => {
      const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
      return (!Number.isNaN(time) && new Date(time).toISOString() === value) || 'must be an ISO 8601 UTC time';
    },
    notes,
  );

export const uuid = (notes?: JsonSchema) =>
  leaf<string>('uuid', (value) => (typeof value === 'string' && isUuid(value)) || 'must be a UUID', notes);

/**
 * Wraps a struct so that `read` first converts text to its value; other values stay as they are. superstruct's `coerce` would create an
 * error, with a stack, for each absent parameter.
 */
export const fromText = <T, S>(struct: Struct<T, S>, read: (text: string) => unknown): Struct<T, S> =>
  new Struct({
    ...struct,
    coercer: (value, context) => struct.coercer(typeof value === 'string' ? read(value) : value, context),
  });

/** Sets a default directly: superstruct's own `defaulted` validates against `unknown` first. */
const withDefault = <T, S>(struct: Struct<T, S>, fallback: T): Struct<T, S> =>
  new Struct({
    ...struct,
    coercer: (value, context) => struct.coercer(value === undefined ? fallback : value, context),
  });

/** Marks text as an address. `idn-email` would be exact, but generators know `email`. */
export const EMAIL: JsonSchema = { format: 'email' };

/** The schema of an object in which at least one of these members is required. */
export const atLeastOne = (...members: readonly string[]): JsonSchema => ({
  anyOf: members.map((member) => ({ required: [member] })),
});

/** The id in a path, converted to lower case. */
export const idParameter = (): Struct<string, null> => fromText(uuid(), (value) => value.toLowerCase());

export const list = <S extends AnyStruct>(element: S) => {
  const base = array(element);
  return new Struct<(typeof base)['TYPE'], (typeof base)['schema']>({
    ...base,
    validator: (value) => Array.isArray(value) || 'must be an array',
  });
};

/** A list of `least` to `most` elements; the elements of a longer list are not checked. */
export const shortList = <S extends AnyStruct>(element: S, least: number, most: number) => {
  const base = array(element);
  const struct = new Struct<(typeof base)['TYPE'], (typeof base)['schema']>({
    ...base,
    // A separate struct, because wrapping the list keeps only this member.
    schema: new Struct(element) as unknown as (typeof base)['schema'],
    *entries(value, context) {
      if (Array.isArray(value) && value.length <= most) yield* base.entries(value, context);
    },
    validator: (value) => {
      if (!Array.isArray(value)) return 'must be an array';
      if (value.length < least) return `must hold at least ${least}`;
      return value.length <= most || `must hold at most ${most} entries`;
    },
  });
  return noted(struct, { ...(least > 0 && { minItems: least }), maxItems: most });
};

/** Up to `limit` strings; the count is checked before the elements. */
export const textList = (limit: number, notes?: JsonSchema) =>
  leaf<string[]>(
    'strings',
    (value) => {
      if (!Array.isArray(value)) return 'must be an array of strings';
      if (value.length > limit) return `must hold at most ${limit} entries`;
      return value.every((entry) => typeof entry === 'string') || 'must be an array of strings';
    },
    { maxItems: limit, ...notes },
  );

/** An object with at least these fields; other members are ignored. */
export const record = <F extends Record<string, AnyStruct>>(fields: F) => {
  const base = type(fields);
  return new Struct<(typeof base)['TYPE'], F>({
    ...base,
    validator: (value) => (typeof value === 'object' && value !== null && !Array.isArray(value)) || 'must be an object',
  });
};

/** An object with only these fields; any other member is an error. */
export const closedRecord = <F extends Record<string, AnyStruct>>(fields: F) => {
  const base = record(fields);
  return new Struct<(typeof base)['TYPE'], F>({
    ...base,
    type: 'closedRecord',
    *entries(value, context) {
      yield* base.entries(value, context);
      if (typeof value !== 'object' || value === null) return;
      for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) yield unknownMember(name);
    },
  });
};

const UNKNOWN = leaf<unknown>('unknown', () => 'is no member of this body');
const LONGEST_UNKNOWN_NAME = 100;
/** Reports an unknown member without reading its value. */
const unknownMember = (name: string): [string, unknown, AnyStruct] => [
  name.slice(0, LONGEST_UNKNOWN_NAME),
  null,
  UNKNOWN,
];

/** Query: some of these values. The parameter may be repeated, and one parameter may hold several values separated by commas. */
export const choicesParameter = <const T extends string>(...values: readonly T[]): Struct<T[], null> =>
  fromText(
    leaf<T[]>(
      'choices',
      (value) => {
        const isKnown = Array.isArray(value) && value.every((each) => values.includes(each));
        return isKnown || `must be some of ${values.join(', ')}`;
      },
      { items: { type: 'string', enum: values } },
    ),
    (value) => value.split(','),
  );

/** Whether the query may repeat a parameter: its values are joined with commas. */
export const isRepeatable = ({ type: name }: AnyStruct): boolean => name === 'choices';

/** Caps page numbers: later pages are empty, and every number stays safe to calculate with. */
const LAST_PAGE = 1_000_000_000;

/** Query: 1, 2, … */
export const pageParameter = () => withDefault(pageOr(), 1);

/** Query: at least 1; a size above the largest becomes the largest (the envelope shows it). */
export const pageSizeParameter = (fallback: number) => withDefault(pageSizeOr(), fallback);

/** The page parameter of lists that are paged only when the query gives `page` or `pageSize`. */
export const pageOr = (notes?: JsonSchema) =>
  fromText(count('page', notes), (value) => (/^\d+$/.test(value) ? Math.min(Number(value), LAST_PAGE) : value));
export const pageSizeOr = (notes?: JsonSchema) =>
  fromText(count('pageSize', notes), (value) =>
    /^\d+$/.test(value) ? Math.min(Number(value), LARGEST_PAGE_SIZE) : value,
  );

/** Query: at least 1; a value above `most` becomes `most`. */
export const limitParameter = (fallback: number, most: number) =>
  withDefault(
    fromText(count('limit'), (value) => (/^\d+$/.test(value) ? Math.min(Number(value), most) : value)),
    fallback,
  );

const count = (name: string, notes?: JsonSchema): Struct<number, null> =>
  fromText(
    leaf<number>(
      name,
      (value) => (Number.isSafeInteger(value) && (value as number) >= 1) || 'must be an integer of at least 1',
      notes,
    ),
    (value) => (/^-?\d+$/.test(value) ? Number(value) : value),
  );

/** Query: `true` or `false`. */
export const flagParameter = (notes?: JsonSchema): Struct<boolean, null> =>
  fromText(flag(notes), (value) => (value === 'true' ? true : value === 'false' ? false : value));

const ISO_DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Query: an ISO 8601 date or date-time, UTC unless it has an offset. It stays text, which the route interprets. */
export const dateParameter = (notes?: JsonSchema) =>
  leaf<string>(
    'date',
    (value) => (typeof value === 'string' && isDate(value)) || 'must be an ISO 8601 date or date-time',
    notes,
  );

export interface Period {
  /** ms since the epoch; both ends are included. */
  readonly from?: number;
  readonly to?: number;
}

/** The time between two date parameters; a last day counts to its end. */
export function periodOf(fromDate: string | undefined, toDate: string | undefined): Period {
  return {
    ...(fromDate === undefined ? {} : { from: timeOf(fromDate) }),
    ...(toDate === undefined ? {} : { to: timeOf(toDate) + (toDate.includes('T') ? 0 : DAY_MS - 1) }),
  };
}

/** Adds `Z` to a date-time that has no offset, which Date.parse would read as local time. */
function timeOf(value: string): number {
  return Date.parse(/T.*(?:Z|[+-]\d\d:\d\d)$/.test(value) || !value.includes('T') ? value : `${value}Z`);
}

function isDate(value: string): boolean {
  return ISO_DATE.test(value) && isTime(value);
}

/**
 * `value`: in a form of ISO 8601. False for a day that its month does not have: Date.parse reads the 31st of February as a day in March.
 */
export function isTime(value: string): boolean {
  if (Number.isNaN(Date.parse(value))) return false;
  const day = value.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
