// Structs of what clients send and get, as OpenAPI and error messages need them: the struct's `type` names its JSON
// schema (json-schema.ts), and each says in words what it takes. superstruct's own leaves print the value they refuse,
// which a hostile value (deep, or with a `toString` of its own) turns into an exception.
import { array, coerce, defaulted, define, Struct, type } from 'superstruct';
import type { AnyStruct } from '../../actors/runtime/protocol.js';
import { isUuid } from '../../mail/ids.js';

export type Fields = Readonly<Record<string, AnyStruct>>;

const LARGEST_PAGE_SIZE = 100;
const DAY_MS = 86_400_000;

export const text = (): Struct<string, null> =>
  define('string', (value) => typeof value === 'string' || 'must be a string');

export const flag = (): Struct<boolean, null> =>
  define('boolean', (value) => typeof value === 'boolean' || 'must be true or false');

export const whole = (): Struct<number, null> =>
  define('integer', (value) => Number.isSafeInteger(value) || 'must be an integer');

/** From `least` to `most`. */
export const wholeWithin = (least: number, most: number): Struct<number, null> =>
  define(
    'integer',
    (value) =>
      (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) ||
      `must be an integer from ${least} to ${most}`,
  );

/** Text of one line: 1 to `most` characters, not all of them blank. */
export const line = (most: number): Struct<string, null> =>
  define('string', (value) => {
    if (typeof value !== 'string') return 'must be a string';
    if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value)) return 'must not hold control characters';
    return (value.trim() !== '' && [...value].length <= most) || `must have 1 to ${most} characters`;
  });

export const choice = <const T extends string>(...values: readonly T[]): Struct<T, Record<T, T>> =>
  new Struct<T, Record<T, T>>({
    type: 'enums',
    schema: Object.fromEntries(values.map((value) => [value, value])) as Record<T, T>,
    validator: (value) => values.includes(value as T) || `must be one of ${values.join(', ')}`,
  });

/** An integer that the store's integers hold. */
export const smallWhole = (): Struct<number, null> =>
  define(
    'integer',
    (value) => (Number.isInteger(value) && value === ((value as number) | 0)) || 'must be an integer of 32 bits',
  );

export const decimal = (): Struct<number, null> =>
  define('number', (value) => typeof value === 'number' || 'must be a number');

/** ISO 8601 in UTC with milliseconds and `Z`, as Date.toISOString writes it. */
export const timestamp = (): Struct<string, null> =>
  define('timestamp', (value) => {
    const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return (!Number.isNaN(time) && new Date(time).toISOString() === value) || 'must be an ISO 8601 UTC time';
  });

export const uuid = (): Struct<string, null> =>
  define('uuid', (value) => (typeof value === 'string' && isUuid(value)) || 'must be a UUID');

/** A path's id, in lower case whatever the client wrote. */
export const idParameter = (): Struct<string, null> => coerce(uuid(), text(), (value) => value.toLowerCase());

export const list = <S extends AnyStruct>(element: S) => {
  const base = array(element);
  return new Struct<(typeof base)['TYPE'], (typeof base)['schema']>({
    ...base,
    validator: (value) => Array.isArray(value) || 'must be an array',
  });
};

/** Up to `limit` strings; the count is looked at before the elements are. */
export const textList = (limit: number): Struct<string[], null> =>
  define('strings', (value) => {
    if (!Array.isArray(value)) return 'must be an array of strings';
    if (value.length > limit) return `must hold at most ${limit} entries`;
    return value.every((entry) => typeof entry === 'string') || 'must be an array of strings';
  });

/** An object of at least these fields; what else it holds is passed over. */
export const record = <F extends Record<string, AnyStruct>>(fields: F) => {
  const base = type(fields);
  return new Struct<(typeof base)['TYPE'], F>({
    ...base,
    validator: (value) => (typeof value === 'object' && value !== null && !Array.isArray(value)) || 'must be an object',
  });
};

/** Query: 1, 2, … */
export const pageParameter = () => defaulted(count('page'), 1);

/** Query: at least 1; what is larger than the largest page is that page (the envelope says so). */
export const pageSizeParameter = (fallback: number) =>
  defaulted(
    coerce(count('pageSize'), text(), (value) =>
      /^\d+$/.test(value) ? Math.min(Number(value), LARGEST_PAGE_SIZE) : value,
    ),
    fallback,
  );

/** Query: at least 1; what is larger than `most` is `most`. */
export const limitParameter = (fallback: number, most: number) =>
  defaulted(
    coerce(count('limit'), text(), (value) => (/^\d+$/.test(value) ? Math.min(Number(value), most) : value)),
    fallback,
  );

const count = (name: string): Struct<number, null> =>
  coerce(
    define<number>(
      name,
      (value) => (Number.isSafeInteger(value) && (value as number) >= 1) || 'must be an integer of at least 1',
    ),
    text(),
    (value) => (/^-?\d+$/.test(value) ? Number(value) : value),
  );

/** Query: `true` or `false`. */
export const flagParameter = (): Struct<boolean, null> =>
  coerce(flag(), text(), (value) => (value === 'true' ? true : value === 'false' ? false : value));

const ISO_DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Query: an ISO 8601 date or date-time, UTC unless it says otherwise; kept as text for the route to interpret. */
export const dateParameter = (): Struct<string, null> =>
  define('date', (value) => (typeof value === 'string' && isDate(value)) || 'must be an ISO 8601 date or date-time');

export interface Period {
  /** ms since the epoch, both ends included. */
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

/** Without an offset Date.parse takes a date-time for local time. */
function timeOf(value: string): number {
  return Date.parse(/T.*(?:Z|[+-]\d\d:\d\d)$/.test(value) || !value.includes('T') ? value : `${value}Z`);
}

function isDate(value: string): boolean {
  if (!ISO_DATE.test(value) || Number.isNaN(Date.parse(value))) return false;
  // Date.parse lets the 31st of February be a day in March.
  const day = value.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
