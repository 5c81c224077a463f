// Requests to the API: the credential, parameters, JSON, and refusals as errors. The types of paths come from the OpenAPI document.
import { filter, map, type Observable, Subject } from 'rxjs';
import type { Paths } from './generated/rest.js';
import { NetworkFault, refusalOf } from './refusal.js';

/** What the client presents: an API key, or tokens of the OpenID provider, which are asked for when they are needed. */
export type Credential = { readonly apiKey: string } | { readonly token: () => string | Promise<string> };

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type PathOf<M extends Method> = { [P in keyof Paths]: M extends keyof Paths[P] ? P : never }[keyof Paths];
type Operation<M extends Method, P extends PathOf<M>> = M extends keyof Paths[P] ? Paths[P][M] : never;
export type Reply<M extends Method, P extends PathOf<M>> =
  Operation<M, P> extends { readonly reply: infer R } ? R : never;
export type Query<M extends Method, P extends PathOf<M>> = NonNullable<
  Operation<M, P> extends { readonly query?: infer Q } ? Q : undefined
>;

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** The browser completes the request after the page is gone. */
  readonly keepalive?: boolean | undefined;
}

type Input<M extends Method, P extends PathOf<M>> = Omit<Operation<M, P>, 'reply'>;
/** Path parameters, query and body, as the path takes them. May be left out where nothing is needed. */
export type RequestInput<M extends Method, P extends PathOf<M>> =
  Record<string, never> extends Input<M, P>
    ? [input?: Input<M, P> & RequestOptions]
    : [input: Input<M, P> & RequestOptions];

/** A request without the types of its path. */
export interface BareRequest extends RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface RestOptions {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly credential: Credential | undefined;
  /** The id of the account that the client shows, as far as the server has said it. */
  readonly accountId?: () => string | undefined;
  readonly fetch: typeof fetch;
  /** Called when the server does not accept the credential (any more). */
  readonly signedOut: () => void;
}

interface Change {
  readonly path: string;
  /** Settles when the server has answered, or did not. */
  readonly answer: Promise<unknown>;
}

export class Rest {
  readonly #options: RestOptions;
  readonly #changes$ = new Subject<Change>();

  constructor(options: RestOptions) {
    this.#options = options;
  }

  /** @throws Refusal, NetworkFault */
  async request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...[input]: RequestInput<M, P>
  ): Promise<Reply<M, P>> {
    const { params = {}, ...rest } = (input ?? {}) as Partial<BareRequest> & { params?: Record<string, unknown> };
    const answer = this.send({ ...rest, method, path: filled(path, params) });
    if (method !== 'GET') this.#changes$.next({ path, answer });
    return (await contentOf(await answer)) as Reply<M, P>;
  }

  /** The requests that change what is below one of these paths, each until it is answered. */
  changesOf(...paths: readonly string[]): Observable<Promise<unknown>> {
    return this.#changes$.pipe(
      filter(({ path }) => paths.some((changed) => path.startsWith(changed))),
      map(({ answer }) => answer),
    );
  }

  /** The reply of a request that succeeds. @throws Refusal, NetworkFault */
  async send(request: BareRequest): Promise<Response> {
    const { credential } = this.#options;
    const authorization = credential && `Bearer ${await tokenOf(credential)}`;
    const response = await this.fetch({ ...request, headers: { Authorization: authorization, ...request.headers } });
    if (response.ok) return response;
    if (response.status === 401) this.#options.signedOut();
    throw await refusalOf(response);
  }

  /** The reply of any status, for a request with its own credential. @throws NetworkFault */
  async fetch({ method, path, query, body, headers = {}, signal, keepalive }: BareRequest): Promise<Response> {
    const { credential } = this.#options;
    const fields = Object.entries({
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...this.#shownAccount(method, path),
      ...headers,
    });
    const init = {
      method,
      headers: fields.filter((field): field is [string, string] => field[1] !== undefined),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
      ...(keepalive !== undefined && { keepalive }),
      // The cookie of a session counts on its own origin alone, and a client with a credential must not send it.
      credentials: credential === undefined ? ('same-origin' as const) : ('omit' as const),
    };
    try {
      return await this.#options.fetch(this.url(path, query), init);
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new NetworkFault(`No reply to ${method} ${path}`, { cause });
    }
  }

  /**
   * Says for which account a request with the cookie is meant: another window may have signed in to another account meanwhile. The profile is
   * what the client learns that from.
   */
  #shownAccount(method: string, path: string): Record<string, string> {
    const { credential, accountId } = this.#options;
    const id = credential === undefined ? accountId?.() : undefined;
    return id === undefined || (method === 'GET' && path === '/api/profile') ? {} : { 'Mansio-Account': id };
  }

  url(path: string, query: Readonly<Record<string, unknown>> = {}): string {
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const text = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString();
    return `${this.#options.baseUrl}${path}${text === '' ? '' : `?${text}`}`;
  }
}

/** The text of a credential. */
export async function tokenOf(credential: Credential): Promise<string> {
  return 'apiKey' in credential ? credential.apiKey : credential.token();
}

/** `/api/emails/{id}` with the id in its place. */
export function filled(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

async function contentOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const isJson = /^application\/json\b/.test(response.headers.get('Content-Type') ?? '');
  return isJson ? response.json() : response.blob();
}
