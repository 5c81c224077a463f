// Routes are data: their scopes and rates admit a request, their structs validate it and describe it in OpenAPI, and the
// handler's types follow from the structs. A handler returns the reply; the pipeline writes it.
import type { Infer, Struct } from 'superstruct';
import type { AnyStruct } from '../../actors/runtime/protocol.js';
import type { RateClass } from '../../auth/rates.js';
import type { Principal } from '../../directory/protocol.js';
import type { Scope } from '../../store/directory.js';
import type { ProblemStatus } from '../problem-details.js';
import type { EncodedJson } from './encoded-json.js';
import type { HeaderField, ReplyStream } from './exchange.js';
import type { Fields } from './fields.js';
import type { Problem } from './problem.js';
import type { UploadField } from './uploads.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `public`, or a credential that has any one of the scopes. */
export type Access = 'public' | { readonly scopes: readonly Scope[] };

export const READ: Access & object = { scopes: ['app', 'api:read'] };
export const WRITE: Access & object = { scopes: ['app', 'api:write'] };

/** What belongs to the account itself: a login, or a key that may do everything. */
export const OWNER: Access & object = { scopes: ['app'] };

export const EMPTY = { kind: 'empty' } as const;
/** Bytes of this media type (a type the route chooses itself when it is a range such as `*\/*`), and fields it sends. */
export const binary = (contentType: string, headers: Readonly<Record<string, string>> = {}) =>
  ({ kind: 'binary', contentType, headers }) as const;

export type ReplyShape = AnyStruct | typeof EMPTY | ReturnType<typeof binary>;
export type Replies = Readonly<Record<number, ReplyShape>>;

interface ReplyHead<S> {
  readonly status: S;
  readonly headers?: readonly HeaderField[];
  /** Called once when the reply has left, the client has gone or the reply is not sent; `whole`: all of it was sent. */
  readonly finished?: (whole: boolean) => void;
}

type ReplyOf<R extends Replies> = {
  // biome-ignore lint/suspicious/noExplicitAny: a struct's schema parameter is of no interest here
  [S in keyof R & number]: R[S] extends Struct<infer T, any>
    ? ReplyHead<S> & { readonly json: T | EncodedJson<T> }
    : R[S] extends { readonly kind: 'binary' }
      ? ReplyHead<S> & { readonly stream: ReplyStream }
      : ReplyHead<S>;
}[keyof R & number];

/** A body that is no JSON: text in UTF-8, which the handler reads. */
export interface TextBody {
  /** One of these has to be its media type; the document names the first. */
  readonly mediaTypes: readonly string[];
  /** A body as a client may send it. */
  readonly example: string;
}

type Values<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> };

/** One validated request. */
interface Call<A extends Access, P extends Fields, Q extends Fields, B extends AnyStruct> {
  /** Who calls; undefined on public routes, which do not look at credentials. */
  readonly principal: A extends 'public' ? undefined : Principal;
  readonly params: Values<P>;
  readonly query: Values<Q>;
  readonly body: Infer<B>;
  /** Of a route that takes text; '' otherwise. */
  readonly text: string;
  readonly remoteAddress: string;
  /** The Host field; the client chooses it. */
  readonly host: string | undefined;
  /** The If-Match field. */
  readonly ifMatch: string | undefined;
  /** The Last-Event-ID field. */
  readonly lastEventId: string | undefined;
  /** When the credential ends by itself, in ms since the epoch. */
  readonly expiresAt: number | undefined;
  /** HEAD: the reply's stream is not read, and nothing may come of it (RFC 9110 §9.2.1). */
  readonly isHead: boolean;
  /** Aborts when the client has gone, and when it has been told that its answer takes too long. */
  readonly aborted: AbortSignal;
}

export interface RouteSpec<
  A extends Access,
  P extends Fields,
  Q extends Fields,
  B extends AnyStruct,
  R extends Replies,
> {
  readonly method: Method;
  /** Segments in braces are parameters: `/api/emails/{id}`. */
  readonly path: string;
  /** Clients write the path and the names of the query in upper and lower case. */
  readonly anyCase?: boolean;
  readonly summary: string;
  /** Rules and limits that the summary and the schemas do not tell; Markdown. */
  readonly description?: string;
  readonly tags: readonly string[];
  /** False for pages that people open: they are not in the OpenAPI document. */
  readonly inDocument?: boolean;
  readonly access: A;
  /** As what it is counted; writes count as such, the rest only globally, when absent. */
  readonly rate?: RateClass;
  /** One struct a parameter of the path; a value it does not take is a 404. */
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A request without a body is as one with an empty object. */
  readonly isBodyOptional?: boolean;
  /** In place of `body`. */
  readonly textBody?: TextBody;
  /** The route looks at If-Match. */
  readonly isConditional?: boolean;
  /**
   * The reply is an event stream. Browsers open event streams without header fields of their own, so the credential may be in
   * the query. The route looks at Last-Event-ID.
   */
  readonly isEventStream?: boolean;
  /** A body as a client may send it. */
  readonly example?: NoInfer<Infer<B>>;
  /** Largest body in octets; 1 MiB when absent. */
  readonly bodyLimit?: number;
  /** Where the body may hold files. */
  readonly uploads?: UploadField;
  /** Successful replies by status; any route may also answer with a problem. */
  readonly replies: R;
  /** Header fields of successful replies in JSON or without a body, and what they say. */
  readonly replyFields?: Readonly<Record<string, string>>;
  /** Problems beside those that follow from access, parameters and body. */
  readonly problems?: readonly ProblemStatus[];
  handler(call: Call<A, P, Q, B>): Promise<ReplyOf<R> | Problem>;
}

/** Any reply a handler may give, as the pipeline sees it. */
export type AnyReply = ReplyHead<number> & { readonly json?: unknown; readonly stream?: ReplyStream };

/** A route of the table, its types erased: the pipeline has validated what it hands to the handler. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly anyCase: boolean;
  readonly summary: string;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly inDocument: boolean;
  readonly access: Access;
  readonly rate: RateClass;
  readonly params: Fields;
  readonly query: Fields;
  readonly body: AnyStruct | undefined;
  readonly isBodyOptional: boolean;
  readonly textBody: TextBody | undefined;
  readonly isConditional: boolean;
  readonly isEventStream: boolean;
  readonly example: unknown;
  readonly bodyLimit: number;
  readonly uploads: UploadField | undefined;
  readonly replies: Replies;
  readonly replyFields: Readonly<Record<string, string>>;
  readonly problems: readonly ProblemStatus[];
  handler(call: Call<Access, Fields, Fields, AnyStruct>): Promise<AnyReply | Problem>;
}

/** Octets of a body whose route does not say otherwise. */
const JSON_LIMIT = 1024 * 1024;

export function defineRoute<
  const A extends Access,
  const R extends Replies,
  P extends Fields = Record<never, never>,
  Q extends Fields = Record<never, never>,
  B extends AnyStruct = Struct<undefined, null>,
>(spec: RouteSpec<A, P, Q, B, R>): Route {
  return {
    method: spec.method,
    path: spec.path,
    anyCase: spec.anyCase ?? false,
    summary: spec.summary,
    description: spec.description,
    tags: spec.tags,
    inDocument: spec.inDocument ?? true,
    access: spec.access,
    rate: spec.rate ?? (spec.method === 'GET' ? 'plain' : 'write'),
    params: spec.params ?? {},
    query: spec.query ?? {},
    body: spec.body,
    isBodyOptional: spec.isBodyOptional ?? false,
    textBody: spec.textBody,
    isConditional: spec.isConditional ?? false,
    isEventStream: spec.isEventStream ?? false,
    example: spec.example,
    bodyLimit: spec.bodyLimit ?? JSON_LIMIT,
    uploads: spec.uploads,
    replies: spec.replies,
    replyFields: spec.replyFields ?? {},
    problems: spec.problems ?? [],
    handler: spec.handler as Route['handler'],
  };
}
