// The argument of a handler: what the pipeline has read from the request, and what the handler may ask of the request itself.
import type { Principal } from '../../../actors/directory/protocol.js';
import type { BrowserRequest } from '../../../auth/session-cookie.js';
import type { HttpRequest } from '../exchange.js';
import { Problem } from '../problem.js';
import type { AnyReply, Route } from '../route.js';
import { browserOf } from './auth.js';

/** What the pipeline has read from a request for its handler. */
interface Validated {
  readonly principal: Principal | undefined;
  readonly expiresAt: number | undefined;
  readonly params: Call['params'];
  readonly query: Call['query'];
  readonly body: unknown;
  readonly text: string;
  readonly signedIn: Principal | undefined;
}

type Call = Parameters<Route['handler']>[0];

/** The argument of a handler. It is a class because an object literal with a getter has a shape of its own and is slow to read. */
export class Handling implements Call {
  /** The access of the route decides which of the two types the handler sees. */
  readonly principal: Call['principal'];
  readonly params: Call['params'];
  readonly query: Call['query'];
  readonly body: unknown;
  readonly text: string;
  readonly expiresAt: number | undefined;
  readonly signedIn: Principal | undefined;
  readonly #request: HttpRequest;
  #controller: AbortController | undefined;
  #isGivenUp = false;

  constructor(request: HttpRequest, { principal, params, query, body, text, expiresAt, signedIn }: Validated) {
    this.#request = request;
    this.principal = principal as Call['principal'];
    this.params = params;
    this.query = query;
    this.body = body;
    this.text = text;
    this.expiresAt = expiresAt;
    this.signedIn = signedIn;
  }

  get remoteAddress(): string {
    return this.#request.remoteAddress;
  }

  get host(): string | undefined {
    return this.#request.headers.get('host');
  }

  get browser(): BrowserRequest {
    return browserOf(this.#request);
  }

  get hasAuthorization(): boolean {
    return this.#request.headers.has('authorization');
  }

  get ifMatch(): string | undefined {
    return this.#request.headers.get('if-match');
  }

  get lastEventId(): string | undefined {
    return this.#request.headers.get('last-event-id');
  }

  get isHead(): boolean {
    return this.#request.method === 'HEAD';
  }

  /** Aborts with the request and when the handler takes too long. Created on first use, because most handlers do not read it. */
  get aborted(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const { aborted } = this.#request;
      if (this.#isGivenUp || aborted.aborted) controller.abort();
      else aborted.addEventListener('abort', () => controller.abort(), { once: true });
    }
    return this.#controller.signal;
  }

  giveUp(handled: Promise<AnyReply | Problem>): void {
    this.#isGivenUp = true;
    this.#controller?.abort();
    handled.then(
      (reply) => {
        if (!(reply instanceof Problem)) reply.finished?.(false);
      },
      () => {},
    );
  }
}
