// Sessions of the page: signing in with a key, a token or a link, and the browsers that are signed in (docs/interface/sessions.md).
import { optional } from 'superstruct';
import type { IssuedSession, Sessions, SigningIn } from '../../../../actors/account/protocol.js';
import type { Principal } from '../../../../actors/directory/protocol.js';
import {
  type BrowserRequest,
  FOREIGN,
  INSECURE,
  isOwnSignIn,
  removedCookie,
  type SessionCookie,
  sessionCookieOf,
  setCookie,
} from '../../../../auth/session-cookie.js';
import type { PageSession } from '../../../../store/sessions.js';
import type { HeaderField } from '../../exchange.js';
import { flag, idParameter, list, record, text, timestamp, uuid } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { notFound, Problem, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

const PATH = '/api/sessions';
const TAGS = ['Sessions'];
const BODY_LIMIT = 4096;
/** Longer ones are cut. */
const LONGEST_USER_AGENT = 400;
const LINK_GONE =
  'The link was used, or its time is over. Make another in a browser that is signed in, or the operator makes it: mansio account link ADDRESS';

export const session = named(
  'Session',
  record({
    id: uuid(),
    createdAt: timestamp(),
    lastUsedAt: timestamp(),
    userAgent: text({ description: 'The User-Agent field of the browser that signed in' }),
    isCurrent: flag({ description: 'It is the session of this request' }),
  }),
);
const signIn = named(
  'SignIn',
  record({ link: optional(text({ description: 'The link for one sign-in, or its token' })) }),
);

/** A browser that may get a session, and the cookie that keeps it. */
export interface SigningBrowser extends Omit<SigningIn, 'proof'> {
  readonly cookie: SessionCookie;
}

/** The browser of a request that signs in; 403 for another page, and for a scheme and a host that may have no session. */
export function signingBrowser(browser: BrowserRequest, signedIn: Principal | undefined): SigningBrowser | Problem {
  const cookie = sessionCookieOf(browser);
  if (cookie === undefined) return new Problem(403, { detail: INSECURE });
  if (!isOwnSignIn(browser)) return new Problem(403, { detail: FOREIGN });
  const userAgent = browser.header('user-agent').slice(0, LONGEST_USER_AGENT);
  return { cookie, userAgent, replaces: signedIn?.keyId ?? undefined };
}

/** The reply to a request that has signed in. */
export function signedInReply(made: IssuedSession, { cookie }: SigningBrowser) {
  const headers: readonly HeaderField[] = [['Set-Cookie', setCookie(cookie, made.token)]];
  return { status: 201, headers, json: sessionOf(made, made.id) } as const;
}

export function sessionRoutes(sessions: Sessions): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'The browsers that are signed in',
      tags: TAGS,
      access: OWNER,
      replies: { 200: list(session) },
      handler: async ({ principal }) => {
        const live = await sessions.list(principal.accountId);
        return { status: 200, json: live.map((one) => sessionOf(one, principal.keyId)) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Sign in: make a session, which the browser keeps in a cookie',
      description:
        'With an Authorization (an API key with `app`, or an access token), or with the link for one sign-in. Only over https, or under ' +
        'localhost. The session that the browser had ends. A link that was used or has expired is 410.',
      tags: TAGS,
      access: 'signIn',
      body: signIn,
      isBodyOptional: true,
      bodyLimit: BODY_LIMIT,
      example: { link: 'https://mail.example.test/link/4bUk0y2mC1z7oQbXwF5s8rJpT3nVhEaLdGiKxYqM9Zc' },
      replies: { 201: session },
      replyFields: { 'Set-Cookie': 'The session' },
      problems: [410],
      handler: async ({ principal, body, browser, signedIn }) => {
        const signing = signingBrowser(browser, signedIn);
        if (signing instanceof Problem) return signing;
        if (principal?.sessionEnd !== undefined)
          return new Problem(403, {
            detail:
              'A session makes no other session: use a key, an access token or a link, which POST /api/sessions/links makes.',
          });
        if (principal === undefined && body.link === undefined) return unauthenticated();
        const made =
          principal === undefined
            ? await sessions.redeemLink(tokenIn(body.link!), signing)
            : await sessions.create(principal.accountId, { ...signing, proof: proofOf(principal) });
        if (made !== undefined) return signedInReply(made, signing);
        return principal === undefined ? new Problem(410, { detail: LINK_GONE }) : unauthenticated('invalid_token');
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/{id}`,
      summary: 'Sign a browser out, at once; the own one also loses its cookie',
      tags: TAGS,
      access: OWNER,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      replyFields: { 'Set-Cookie': 'Removes the session of this request' },
      handler: async ({ principal, params, browser }) => {
        if (!(await sessions.end(principal.accountId, params.id))) return notFound();
        const cookie = principal.keyId === params.id.toLowerCase() ? sessionCookieOf(browser) : undefined;
        const headers: readonly HeaderField[] = cookie === undefined ? [] : [['Set-Cookie', removedCookie(cookie)]];
        return { status: 204, headers };
      },
    }),
  ];
}

/** A request without a session has an API key or an access token. */
const proofOf = ({ keyId }: Principal) => (keyId === null ? 'login' : undefined);

/** The token of a link is the last part of its path. */
function tokenIn(link: string): string {
  return link.trim().slice(link.trim().lastIndexOf('/') + 1);
}

function sessionOf({ id, createdAt, lastUsedAt, userAgent }: PageSession, current: string | null) {
  return {
    id,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
    userAgent,
    isCurrent: id === current,
  };
}
