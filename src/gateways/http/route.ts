// Routes are data: their scopes and rates admit a request, their structs validate it and describe it in OpenAPI, and the handler's types
// follow from the structs. A handler returns the reply; the pipeline writes it.
import type { Infer, Struct } from 'superstruct';
import type { Principal } from '../../actors/directory/protocol.js';
import type { AnyStruct } from '../../actors/runtime/protocol.js';
import type { RateClass } from '../../auth/rates.js';
import type { BrowserRequest } from '../../auth/session-cookie.js';
import type { Scope } from '../../store/directory.js';
import type { ProblemStatus } from '../problem-details.js';
import type { EncodedJson } from './encoded-json.js';
import type { HeaderField, ReplyStream } from './exchange.js';
import type { Fields } from './fields.js';
import type { UploadField } from './pipeline/uploads.js';
import type { Problem } from './problem.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `public`; or any credential with at least one of the scopes; or `signIn`: an Authorization with the scope `app`, or without one another
 * proof, which the handler checks. A wrong proof is 401 or 410.
 */
export type Access = 'public' | 'signIn' | { readonly scopes: readonly Scope[] };

export const READ: Access & object = { scopes: ['app', 'api:read'] };
export const WRITE: Access & object = { scopes: ['app', 'api:write'] };

/** The access to what belongs to the account itself: a login, or a key with all permissions. */
export const OWNER: Access & object = { scopes: ['app'] };

export const EMPTY = { kind: 'empty' } as const;
/** A reply of bytes in this media type (the route chooses the type when it is a range such as `*\/*`) with these header fields. */
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

/** A body in UTF-8 text instead of JSON; the handler parses it. */
export interface TextBody {
  /** The accepted media types; the document names the first. */
  readonly mediaTypes: readonly string[];
  /** An example of a body that a client may send. */
  readonly example: string;
}

type Values<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> };

/** One validated request. */
interface Call<A extends Access, P extends Fields, Q extends Fields, B extends AnyStruct> {
  /** The caller; undefined on public routes, which ignore credentials, and for a sign-in without an Authorization. */
  readonly principal: A extends 'public' ? undefined : A extends 'signIn' ? Principal | undefined : Principal;
  /** The session that the browser has when it signs in again; for sign-ins only. */
  readonly signedIn: Principal | undefined;
  readonly params: Values<P>;
  readonly query: Values<Q>;
  readonly body: Infer<B>;
  /** The body of a route with a text body; '' otherwise. */
  readonly text: string;
  readonly remoteAddress: string;
  /** The Host field, which the client chooses. */
  readonly host: string | undefined;
  readonly browser: BrowserRequest;
  /** The request has an Authorization field: a program made it, because a browser adds none to what a page refers to. */
  readonly hasAuthorization: boolean;
  /** The If-Match field. */
  readonly ifMatch: string | undefined;
  /** The Last-Event-ID field. */
  readonly lastEventId: string | undefined;
  /** The time at which the credential ends by itself, in ms since the epoch. */
  readonly expiresAt: number | undefined;
  /** HEAD: the stream of the reply is not read, and the request must not change anything (RFC 9110 §9.2.1). */
  readonly isHead: boolean;
  /** Aborts when the client has gone, and when it was told that the answer takes too long. */
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
  /** Path and names of the query match in upper and lower case. */
  readonly anyCase?: boolean;
  readonly summary: string;
  /** Rules and limits that the summary and the schemas do not show; Markdown. */
  readonly description?: string;
  readonly tags: readonly string[];
  /** False for pages that people open: the OpenAPI document omits them. */
  readonly inDocument?: boolean;
  readonly access: A;
  /** The rate class of the requests; when absent, writes count as writes and other requests only globally. */
  readonly rate?: RateClass;
  /** One struct per parameter of the path; a value that it refuses results in 404. */
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A request without a body is read as one with an empty object, or an empty text. */
  readonly isBodyOptional?: boolean;
  /** Replaces `body`. */
  readonly textBody?: TextBody;
  /** The route reads If-Match. */
  readonly isConditional?: boolean;
  /**
   * The reply is an event stream. Browsers open event streams without header fields of their own, so the query may contain the credential.
   * The route reads Last-Event-ID.
   */
  readonly isEventStream?: boolean;
  /** An example of a body that a client may send. */
  readonly example?: NoInfer<Infer<B>>;
  /** The largest body in octets; 1 MiB when absent. */
  readonly bodyLimit?: number;
  /** The place of files in the body. */
  readonly uploads?: UploadField;
  /** Successful replies by status; any route may also answer with a problem. */
  readonly replies: R;
  /** Header fields of successful replies in JSON or without a body, with their descriptions. */
  readonly replyFields?: Readonly<Record<string, string>>;
  /** Problems in addition to those that follow from access, parameters and body. */
  readonly problems?: readonly ProblemStatus[];
  handler(call: Call<A, P, Q, B>): Promise<ReplyOf<R> | Problem>;
}

/** Any reply of a handler, as the pipeline sees it. */
export type AnyReply = ReplyHead<number> & { readonly json?: unknown; readonly stream?: ReplyStream };

/** A route of the table without its types: the pipeline validates what it passes to the handler. */
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

/** The limit, in octets, of a body whose route sets none. */
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
