// The errors of the client: a refusal is a reply of the server that is no success, a fault of the network is no reply at all.

/** The reasons of refusals. */
export type RefusalCode =
  | 'invalid'
  | 'signedOut'
  | 'forbidden'
  | 'notFound'
  | 'conflict'
  | 'changed'
  | 'tooLarge'
  | 'tooMany'
  | 'unavailable'
  | 'other';

const CODES: Readonly<Record<number, RefusalCode>> = {
  400: 'invalid',
  401: 'signedOut',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  410: 'notFound',
  412: 'changed',
  413: 'tooLarge',
  429: 'tooMany',
  503: 'unavailable',
};

export interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** The server has refused a request (RFC 9457). `message` is the detail or the title. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal';
  readonly status: number;
  /** `changed`: somebody else has changed what the entity tag names. */
  readonly code: RefusalCode;
  readonly title: string;
  readonly detail: string;
  /** Messages by field, when the request is invalid. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    { title = `Status ${status}`, detail = '', errors = {} }: Problem,
    retryAfterMs?: number,
  ) {
    super(detail === '' ? title : detail);
    this.status = status;
    this.code = CODES[status] ?? (status >= 500 ? 'unavailable' : 'other');
    this.title = title;
    this.detail = detail;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs;
  }
}

/** There is no such thing in the account. */
export class NotFound extends Refusal {
  override readonly name = 'NotFound';
}

/** Somebody else has changed it: the entity tag names another version than there is. */
export class Conflict extends Refusal {
  override readonly name = 'Conflict';
}

/** No reply has come; a write may have been carried out. */
export class NetworkFault extends Error {
  override readonly name = 'NetworkFault';
}

export async function refusalOf(response: Response): Promise<Refusal> {
  const isProblem = /json/.test(response.headers.get('Content-Type') ?? '');
  const problem = (isProblem ? await response.json().catch(() => ({})) : {}) as Problem;
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  const Class = response.status === 404 ? NotFound : response.status === 412 ? Conflict : Refusal;
  return new Class(response.status, problem, waitMs);
}

/** True when the same request may succeed later: the network, the rates or the node that keeps the account are the reason. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof NetworkFault || (error instanceof Refusal && [408, 429, 502, 503, 504].includes(error.status))
  );
}

/** True when streams go on after the next sign-in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Refusal && error.status === 401;
}
