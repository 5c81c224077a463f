// Links for one sign-in, as people open them (docs/interface/sessions.md, "Links"). GET shows whose link it is and changes nothing, because
// mail programs and scanners open links by themselves; the button posts. These routes are no part of the OpenAPI document.
import type { Sessions } from '../../../../actors/account/protocol.js';
import type { Principal } from '../../../../actors/directory/protocol.js';
import { type BrowserRequest, sessionCookieOf, setCookie } from '../../../../auth/session-cookie.js';
import type { LinkAccount } from '../../../../store/sessions.js';
import type { HeaderField } from '../../exchange.js';
import { text } from '../../fields.js';
import { CONFIRMED, type LinkPage, linkPage, PAGE_FIELDS, STYLE, streamOf } from '../../page/link-page.js';
import { type LinkTexts, linkTextsFor } from '../../page/link-texts.js';
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
        const texts = textsFor(browser);
        if (sessionCookieOf(browser) === undefined) return pageReply(403, refused(texts, texts.insecure));
        const account = await sessions.accountOfLink(params.token);
        return account === undefined ? pageReply(410, gone(texts)) : pageReply(200, invitation(texts, account));
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
        const texts = textsFor(browser);
        if (signing instanceof Problem) {
          const isInsecure = sessionCookieOf(browser) === undefined;
          return pageReply(403, refused(texts, isInsecure ? texts.insecure : texts.foreign));
        }
        const account = await sessions.accountOfLink(params.token);
        if (account === undefined) return pageReply(410, gone(texts));
        const isAnother = signedIn !== undefined && signedIn.accountId !== account.id;
        if (isAnother && new URLSearchParams(form).get(CONFIRMED) !== 'yes')
          return pageReply(200, question(texts, account, signedIn));
        const made = await sessions.redeemLink(params.token, signing);
        if (made === undefined) return pageReply(410, gone(texts));
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

const textsFor = (browser: BrowserRequest): LinkTexts => linkTextsFor(browser.header('accept-language'));

const nameOf = ({ displayName, email }: LinkAccount): string => `${displayName} (${email})`;

const invitation = (texts: LinkTexts, account: LinkAccount): LinkPage => ({
  language: texts.language,
  title: texts.signIn,
  text: [texts.invitation(nameOf(account))],
  button: { label: texts.signIn, isConfirmed: false },
});

const question = (texts: LinkTexts, account: LinkAccount, { email }: Principal): LinkPage => ({
  language: texts.language,
  title: texts.another,
  text: [texts.question(email, nameOf(account)), texts.stay],
  button: { label: texts.signInAs(account.email), isConfirmed: true },
});

const gone = ({ language, gone: title, goneText }: LinkTexts): LinkPage => ({
  language,
  title,
  text: [goneText],
  command: 'mansio account link ADDRESS',
});

const refused = ({ language, refused: title }: LinkTexts, reason: string): LinkPage => ({
  language,
  title,
  text: [reason],
});
