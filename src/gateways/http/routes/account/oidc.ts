// Signing in to the page at an OpenID provider (docs/interface/sessions.md, "OpenID Connect"). The page asks where the browser is to go,
// and hands in what the provider sent the browser back with; the node does the rest.
import { optional } from 'superstruct';
import type { Sessions } from '../../../../actors/account/protocol.js';
import type { Identity } from '../../../../auth/credentials.js';
import type { CodeFlow } from '../../../../auth/oidc/code-flow.js';
import type { VerifiedToken } from '../../../../auth/oidc/token-verifier.js';
import { isLoopbackName } from '../../../../auth/origin.js';
import {
  type BrowserRequest,
  ownUrl,
  removedSignInCookie,
  setSignInCookie,
  signInSecret,
} from '../../../../auth/session-cookie.js';
import type { HeaderField } from '../../exchange.js';
import { record, text } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound, Problem, unauthenticated } from '../../problem.js';
import { defineRoute, type Route } from '../../route.js';
import { type SigningBrowser, session, signedInReply, signingBrowser } from './sessions.js';

const PATH = '/api/oidc';
/** The page to which providers send the browser back. */
const CALLBACK = '/sign-in/oidc';
const TAGS = ['Sessions'];
/** Codes of providers are short, but no rule says so. */
const BODY_LIMIT = 16 * 1024;
const ELSEWHERE =
  'the OpenID provider signs in at the host of MANSIO_PUBLIC_URL and on this machine, not under another name';
const NOT_BEGUN = 'belongs to no sign-in that this browser has begun in the last ten minutes';
const NO_PROOF = 'The answer of the OpenID provider does not prove who has signed in.';
const NAMELESS = 'The OpenID provider does not name the user.';

export interface OidcSources {
  /** Undefined when no provider is configured. */
  readonly codeFlow: CodeFlow | undefined;
  /** `accessToken`: for the provider's further claims about the user. */
  identify(token: VerifiedToken, accessToken: string): Promise<Identity>;
  readonly sessions: Pick<Sessions, 'create'>;
  readonly publicUrl: string | undefined;
}

const authorization = named('OidcAuthorization', record({ url: text({ description: 'Where the browser goes' }) }));
const answer = named(
  'OidcAnswer',
  record({
    code: text(),
    state: text(),
    iss: optional(text({ description: 'Where the provider sends it (RFC 9207)' })),
  }),
);

export function oidcRoutes({ codeFlow, identify, sessions, publicUrl }: OidcSources): readonly Route[] {
  /** A browser that may sign in, and where the provider sends it back. */
  const admitted = (browser: BrowserRequest, ...[signedIn]: [Parameters<typeof signingBrowser>[1]?]) => {
    if (codeFlow === undefined) return notFound();
    const signing = signingBrowser(browser, signedIn);
    if (signing instanceof Problem) return signing;
    const redirectUri = redirectUriOf(browser, publicUrl);
    return redirectUri === undefined ? invalid({ host: [ELSEWHERE] }) : { codeFlow, signing, redirectUri };
  };
  return [
    defineRoute({
      method: 'POST',
      path: `${PATH}/authorization`,
      summary: 'Begin to sign in at the OpenID provider',
      description:
        'Replies with the address to which the page sends the browser, and keeps the secret of the sign-in in a cookie for ten minutes. ' +
        `The provider sends the browser back to \`${CALLBACK}\` of the host: localhost or an address of this machine, or the host of ` +
        '`MANSIO_PUBLIC_URL`; 400 elsewhere. 404 when no provider and client id are configured.',
      tags: TAGS,
      access: 'public',
      replies: { 200: authorization },
      replyFields: { 'Set-Cookie': 'The secret of the sign-in' },
      problems: [400, 403, 404],
      handler: async ({ browser }) => {
        const found = admitted(browser);
        if (found instanceof Problem) return found;
        const { url, secret } = await found.codeFlow.begin(found.redirectUri);
        return { status: 200, headers: [['Set-Cookie', setSignInCookie(found.signing.cookie, secret)]], json: { url } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/sessions`,
      summary: 'Sign in: make a session for what the OpenID provider sent the browser back with',
      description:
        'Replies like `POST /api/sessions`. 400 on `state` for an answer that belongs to no sign-in of this browser; 401 when the provider ' +
        'does not take the code (any more); 403 when the user has no account here; 502 when the provider refuses the server.',
      tags: TAGS,
      access: 'signIn',
      body: answer,
      bodyLimit: BODY_LIMIT,
      example: { code: 'SplxlOBeZQQYbYS6WxSbIA', state: 'af0ifjsldkj' },
      replies: { 201: session },
      replyFields: { 'Set-Cookie': 'The session; the secret of the sign-in is removed' },
      problems: [404, 502],
      handler: async ({ browser, signedIn, body: { code, state, iss: issuer } }) => {
        const found = admitted(browser, signedIn);
        if (found instanceof Problem) return found;
        const { signing, redirectUri } = found;
        const ended = await found.codeFlow.end(signInSecret(browser), { code, state, issuer }, redirectUri);
        if (ended.kind === 'foreign') return invalid({ state: [NOT_BEGUN] });
        if (ended.kind === 'spent') return over(signing, unauthenticated('invalid_token'));
        if (ended.kind === 'failed') return over(signing, new Problem(502, { detail: detailOf(ended.error) }));
        const identity = await identify(ended.token, ended.accessToken);
        if (identity.kind === 'refused') return over(signing, new Problem(403, { detail: identity.detail }));
        if (identity.kind !== 'known') return over(signing, new Problem(403, { detail: NAMELESS }));
        const made = await sessions.create(identity.principal.accountId, { ...signing, proof: 'login' });
        if (made === undefined) return over(signing, unauthenticated('invalid_token'));
        const reply = signedInReply(made, signing);
        return { ...reply, headers: [...reply.headers, removed(signing)] };
      },
    }),
  ];
}

/** Undefined where people cannot sign in. */
function redirectUriOf(browser: BrowserRequest, publicUrl: string | undefined): string | undefined {
  const own = ownUrl(browser);
  if (own === undefined) return undefined;
  // The Host is what the client says, so only names that are known may be sent to the provider.
  const isOurs = isLoopbackName(own.hostname) || (publicUrl !== undefined && own.origin === new URL(publicUrl).origin);
  return isOurs ? `${own.origin}${CALLBACK}` : undefined;
}

const removed = ({ cookie }: SigningBrowser): HeaderField => ['Set-Cookie', removedSignInCookie(cookie)];

/** A sign-in is tried once. */
function over(signing: SigningBrowser, { status, detail, headers }: Problem): Problem {
  return new Problem(status, { ...(detail !== undefined && { detail }), headers: [...headers, removed(signing)] });
}

function detailOf(error: string | undefined): string {
  if (error === undefined) return NO_PROOF;
  return `The OpenID provider refuses this server: ${error}. The operator checks MANSIO_OIDC_CLIENT_ID and MANSIO_OIDC_CLIENT_SECRET.`;
}
