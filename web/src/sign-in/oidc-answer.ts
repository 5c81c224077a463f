// What an OpenID provider has sent the browser back with, read from the address of the page. Whoever writes a link writes its words too, so
// the page shows only those that belong to a sign-in that began in this tab.
import { type OidcAnswer, Refusal } from '../../../src/client/index.js';
import { reasonOf } from '../app/reason.js';
import { parseRoute, type Route } from '../app/route.js';

const CALLBACK = '/sign-in/oidc';

/** What the tab remembers of a sign-in while the browser is at the provider. */
export interface BegunAtProvider {
  readonly state: string;
  /** Path and query of the page that the reader left. */
  readonly from: string;
}

export type Returned =
  | { readonly kind: 'answer'; readonly answer: OidcAnswer }
  /** The provider has refused. `code`: that of OAuth; `description`: the provider's words. */
  | { readonly kind: 'refused'; readonly code: string; readonly description: string };

/** Undefined when the address is that of no answer. */
export function returnedWith(
  { pathname, search }: { readonly pathname: string; readonly search: string },
  begun: BegunAtProvider | undefined,
): Returned | undefined {
  if (pathname !== CALLBACK) return undefined;
  const query = new URLSearchParams(search);
  const [code, state, error, iss] = [query.get('code'), query.get('state'), query.get('error'), query.get('iss')];
  if (code && state && error === null) return { kind: 'answer', answer: { code, state, ...(iss !== null && { iss }) } };
  if (error === null || begun === undefined || begun.state !== state)
    return { kind: 'refused', code: '', description: '' };
  return { kind: 'refused', code: error, description: query.get('error_description') ?? '' };
}

/** Where the reader goes on: at a view of this page, whatever the tab remembers. */
export function goesOnAt(begun: BegunAtProvider | undefined): Route {
  const base = 'http://page.invalid';
  const from = begun !== undefined && URL.canParse(begun.from, base) ? new URL(begun.from, base) : new URL(base);
  return parseRoute(from);
}

/** What the reader is told: a text and what it names. */
export type ProviderFault =
  | { readonly key: 'signIn.oidc.foreign' | 'signIn.oidc.late' }
  | { readonly key: 'signIn.oidc.denied'; readonly parameters: { readonly description: string } }
  | {
      readonly key: 'signIn.oidc.refused';
      readonly parameters: { readonly code: string; readonly description: string };
    }
  | { readonly key: 'app.failed'; readonly parameters: { readonly reason: string } };

export function faultOf({ code, description }: Extract<Returned, { readonly kind: 'refused' }>): ProviderFault {
  if (code === '') return { key: 'signIn.oidc.foreign' };
  if (code === 'access_denied') return { key: 'signIn.oidc.denied', parameters: { description } };
  return { key: 'signIn.oidc.refused', parameters: { code, description } };
}

/** `error`: with which the server has refused the answer. */
export function faultOfAnswer(error: unknown): ProviderFault {
  if (error instanceof Refusal && error.status === 400 && 'state' in error.errors)
    return { key: 'signIn.oidc.foreign' };
  if (error instanceof Refusal && error.status === 401) return { key: 'signIn.oidc.late' };
  return { key: 'app.failed', parameters: { reason: reasonOf(error) } };
}
