// Validates path, query and body of a request against the structs of its route: the results are typed values, or field errors in words.
import type { LRUCache } from 'lru-cache';
import { type StructError, validate } from 'superstruct';
import type { AnyStruct } from '../../../actors/runtime/protocol.js';
import type { Reservation } from '../../../concurrency/keyed-limiter.js';
import { lruCache } from '../../../concurrency/lru-cache.js';
import type { FieldErrors } from '../../problem-details.js';
import type { HttpRequest } from '../exchange.js';
import { type Fields, isRepeatable, record } from '../fields.js';
import { invalid, notFound, Problem } from '../problem.js';
import type { Route, TextBody } from '../route.js';
import { readBodyPieces } from './body-memory.js';
import { type JsonBody, readJson } from './json-body.js';

const MOST_ERRORS = 50;
/** The reply repeats at most this many characters of an unknown name. */
const LONGEST_NAME = 100;
/** Event streams accept it, because browsers open them without header fields of their own. */
const CREDENTIAL_PARAMETER = 'access_token';

type Values = Readonly<Record<string, unknown>>;
const NO_VALUES: Values = Object.freeze({});

/** Structs of whole queries and paths, created once per route. */
const structs = new WeakMap<Fields, AnyStruct>();
/** The number of validated queries that are cached per route: most repeat, and a check takes a twentieth of a request. */
const READ_QUERIES = 64;
/** Longer queries are not cached. */
const LONGEST_READ = 100;
const readQueries = new WeakMap<Route, LRUCache<string, Values>>();

/** @throws Problem 404: an id of the wrong form names nothing. */
export function readParams(route: Route, params: Readonly<Record<string, string>>): Values {
  const [error, value] = validate({ ...params }, structOf(route.params), { coerce: true });
  if (error) throw notFound();
  return value as Values;
}

/** Strict routes refuse unknown parameters; other routes ignore them. @throws Problem 400 */
export function readQuery(route: Route, query: string): Values {
  const names = Object.keys(route.query);
  if (names.length === 0 && (query === '' || !isStrict(route))) return NO_VALUES;
  // The query of an event stream may contain a credential, and that of a DELETE a push endpoint, which is a secret as well.
  if (query.length > LONGEST_READ || route.isEventStream || route.method !== 'GET')
    return checkedQuery(route, names, query);
  let read = readQueries.get(route);
  if (read === undefined) {
    read = lruCache(READ_QUERIES);
    readQueries.set(route, read);
  }
  let values = read.get(query);
  if (values === undefined) {
    values = Object.freeze(checkedQuery(route, names, query));
    read.set(query, values);
  }
  return values;
}

function checkedQuery(route: Route, names: readonly string[], query: string): Values {
  const sent = new URLSearchParams(query);
  const valuesOf = route.anyCase ? byLowerCase(sent) : (name: string) => sent.getAll(name);
  const values: Record<string, string> = {};
  const repeated: Record<string, string[]> = {};
  for (const name of names) {
    const sentValues = valuesOf(name);
    const [first, ...others] = sentValues;
    const mayRepeat = isRepeatable(route.query[name]!);
    if (first !== undefined) values[name] = mayRepeat ? sentValues.join(',') : first;
    if (others.length > 0 && !mayRepeat) repeated[name] = ['must be given once'];
  }
  const [error, value] = validate(values, structOf(route.query), { coerce: true });
  const errors = { ...(error ? fieldErrors(error) : {}), ...repeated, ...unknownIn(route, sent) };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return value as Values;
}

const isStrict = ({ path }: Route): boolean => path.startsWith('/api/');

function unknownIn(route: Route, sent: URLSearchParams): FieldErrors {
  if (!isStrict(route)) return {};
  const isKnown = (name: string) =>
    Object.hasOwn(route.query, name) || (route.isEventStream && name === CREDENTIAL_PARAMETER);
  const unknown = [...new Set(sent.keys())].filter((name) => !isKnown(name)).slice(0, MOST_ERRORS);
  return Object.fromEntries(unknown.map((name) => [name.slice(0, LONGEST_NAME), ['is no parameter of this endpoint']]));
}

/** @throws Problem 400, 413, 415 or 503; BodyError; SpoolFault */
export async function readBody(
  route: Route & { readonly body: AnyStruct },
  request: HttpRequest,
  memory: Reservation,
): Promise<JsonBody> {
  const { value, release } =
    route.isBodyOptional && !hasContent(request)
      ? { value: {}, release() {} }
      : await readContent(route, request, memory);
  const [error, result] = validate(value, route.body, { coerce: true });
  if (error === undefined) return { value: result as object, release };
  release();
  throw invalid(fieldErrors(error));
}

/** RFC 9112 §6.3: a request without either field has no content. */
function hasContent({ headers }: HttpRequest): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) !== 0;
}

async function readContent(route: Route, request: HttpRequest, memory: Reservation): Promise<JsonBody> {
  const media = mediaTypeOf(request);
  if (media !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(media)) {
    throw new Problem(415, { detail: 'The body must be application/json.' });
  }
  refuseCoding(request);
  return readJson(request, route, memory);
}

/** @throws Problem 413, 415 or 503; BodyError */
export async function readText(
  { textBody, bodyLimit, isBodyOptional }: Route & { readonly textBody: TextBody },
  request: HttpRequest,
  memory: Reservation,
): Promise<string> {
  if (isBodyOptional && !hasContent(request)) return '';
  if (!textBody.mediaTypes.includes(mediaTypeOf(request))) {
    throw new Problem(415, { detail: `The body must be ${textBody.mediaTypes.join(' or ')}.` });
  }
  refuseCoding(request);
  const pieces: Uint8Array[] = [];
  await readBodyPieces(request, bodyLimit, memory, (piece) => void pieces.push(Buffer.from(piece)));
  return new TextDecoder().decode(Buffer.concat(pieces));
}

function mediaTypeOf({ headers }: HttpRequest): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}

/** @throws Problem 415 */
function refuseCoding({ headers }: HttpRequest): void {
  if (!headers.has('content-encoding')) return;
  throw new Problem(415, {
    detail: 'The body must not have a content coding.',
    headers: [['Accept-Encoding', 'identity']],
  });
}

function byLowerCase(sent: URLSearchParams): (name: string) => string[] {
  return (name) => [...sent].filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

function structOf(fields: Fields): AnyStruct {
  const struct = structs.get(fields) ?? record(fields);
  structs.set(fields, struct);
  return struct;
}

export function fieldErrors(error: StructError): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const failure of error.failures()) {
    if (errors.size === MOST_ERRORS) break;
    const name = fieldName(failure.path);
    const messages = errors.get(name) ?? [];
    messages.push(failure.value === undefined ? 'is required' : failure.message);
    errors.set(name, messages);
  }
  return Object.fromEntries(errors);
}

/** `recipients[0].address`; `body` for the whole body. */
function fieldName(path: readonly (string | number)[]): string {
  let name = '';
  for (const step of path) name += typeof step === 'number' ? `[${step}]` : name === '' ? step : `.${step}`;
  return name === '' ? 'body' : name;
}
