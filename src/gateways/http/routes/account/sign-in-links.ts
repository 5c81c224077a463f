// Links for one sign-in, as people open them (docs/interface/sessions.md, "Links"). GET shows whose link it is and changes nothing, because
// mail programs and scanners open links by themselves; the button posts. These routes are no part of the OpenAPI document.
import type { Sessions } from '../../../../actors/account/protocol.js';
import type { Principal } from '../../../../actors/directory/protocol.js';
import { INSECURE, sessionCookieOf, setCookie } from '../../../../auth/session-cookie.js';
import type { LinkAccount } from '../../../../store/sessions.js';
import type { HeaderField } from '../../exchange.js';
import { text } from '../../fields.js';
import { CONFIRMED, type LinkPage, linkPage, PAGE_FIELDS, STYLE, streamOf } from '../../page/link-page.js';
import { Problem } from '../../problem.js';
import { binary, defineRoute, EMPTY, type Route } from '../../route.js';
import { signingBrowser } from './sessions.js';

const PATH = '/link/{token}';
const HTML = 'text/html; charset=utf-8';
const BODY_LIMIT = 4096;
const FORM = { mediaTypes: ['application/x-www-form-urlencoded'], example: '' };

export function signInLinkRoutes(sessions: Sessions): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/link/page.css',
      summary: 'The style of the page of a link',
      tags: [],
      inDocument: false,
      access: 'public',
      rate: 'unlimited',
      replies: { 200: binary('text/css; charset=utf-8') },
      handler: async () => ({ status: 200, headers: STYLE_FIELDS, stream: streamOf(STYLE) }),
    }),
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'The page of a link for one sign-in',
      tags: [],
      inDocument: false,
      access: 'signIn',
      params: { token: text() },
      replies: { 200: binary(HTML), 403: binary(HTML), 410: binary(HTML) },
      handler: async ({ params, browser }) => {
        if (sessionCookieOf(browser) === undefined) return pageReply(403, REFUSED(INSECURE));
        const account = await sessions.accountOfLink(params.token);
        return account === undefined ? pageReply(410, GONE) : pageReply(200, invitation(account));
      },
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Sign in with the link',
      tags: [],
      inDocument: false,
      access: 'signIn',
      params: { token: text() },
      textBody: FORM,
      isBodyOptional: true,
      bodyLimit: BODY_LIMIT,
      replies: { 200: binary(HTML), 303: EMPTY, 403: binary(HTML), 410: binary(HTML) },
      handler: async ({ params, text: form, browser, signedIn }) => {
        const signing = signingBrowser(browser, signedIn);
        if (signing instanceof Problem) return pageReply(403, REFUSED(signing.detail ?? ''));
        const account = await sessions.accountOfLink(params.token);
        if (account === undefined) return pageReply(410, GONE);
        const isAnother = signedIn !== undefined && signedIn.accountId !== account.id;
        if (isAnother && new URLSearchParams(form).get(CONFIRMED) !== 'yes')
          return pageReply(200, question(account, signedIn));
        const made = await sessions.redeemLink(params.token, signing);
        if (made === undefined) return pageReply(410, GONE);
        return {
          status: 303,
          headers: [
            ['Location', '/'],
            ['Set-Cookie', setCookie(signing.cookie, made.token)],
          ],
        };
      },
    }),
  ];
}

const STYLE_FIELDS: readonly HeaderField[] = [
  ['Content-Type', 'text/css; charset=utf-8'],
  ['Cache-Control', 'public, max-age=3600'],
];

function pageReply<S extends 200 | 403 | 410>(status: S, page: LinkPage) {
  return { status, headers: PAGE_FIELDS, stream: linkPage(page) } as const;
}

const nameOf = ({ displayName, email }: LinkAccount): string => `${displayName} (${email})`;

const invitation = (account: LinkAccount): LinkPage => ({
  title: 'Sign in',
  text: [`This link signs this browser in to the mail of ${nameOf(account)}. It works once.`],
  button: { label: 'Sign in', isConfirmed: false },
});

const question = (account: LinkAccount, { email }: Principal): LinkPage => ({
  title: 'Somebody else is signed in',
  text: [
    `${email} is signed in in this browser. If you go on, that session ends and the browser is signed in to the mail of ${nameOf(account)}.`,
    'To stay signed in as before, close this page: nothing has changed.',
  ],
  button: { label: `Sign in as ${account.email}`, isConfirmed: true },
});

const GONE: LinkPage = {
  title: 'This link no longer works',
  text: ['It was used, or its time is over. The operator of this server makes another one with this command:'],
  command: 'mansio account link ADDRESS',
};

const REFUSED = (detail: string): LinkPage => ({ title: 'This browser cannot be signed in here', text: [detail] });
