// Verification of an address elsewhere by mail (docs/interface/rest.md, "Resources"): a request sends the mail again, and the page of its
// link verifies. GET shows who asks and changes nothing, because mail programs and scanners open links by themselves; the button posts.
import type { Profiles } from '../../../../actors/account/protocol.js';
import type { BrowserRequest } from '../../../../auth/session-cookie.js';
import { idParameter, text } from '../../fields.js';
import { type LinkPage, linkPage, PAGE_FIELDS } from '../../page/link-page.js';
import { verificationPages } from '../../page/verification-texts.js';
import { notFound } from '../../problem.js';
import { binary, defineRoute, EMPTY, OWNER, type Route } from '../../route.js';
import { verificationProblem } from './profile.js';

const PATH = '/verify';
const HTML = 'text/html; charset=utf-8';
const FORM = { mediaTypes: ['application/x-www-form-urlencoded'], example: '' };
const BODY_LIMIT = 4096;
/** The style of the page, relative to its path. */
const STYLE = 'link/page.css';

export function addressVerificationRoutes(profiles: Profiles): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/addresses/{addressId}/verification',
      summary: 'Send the mail that verifies an address again',
      description:
        'Each mail ends the link of the one before. At most 5 mails per account and day, and one per address and hour.',
      tags: ['Profile'],
      access: OWNER,
      params: { addressId: idParameter() },
      replies: { 202: EMPTY },
      problems: [404, 409, 429],
      handler: async ({ principal, params }) => {
        const sent = await profiles.sendVerification(principal.accountId, params.addressId);
        if (sent === undefined) return { status: 202 };
        return sent.kind === 'noSuchAddress' ? notFound() : verificationProblem(sent);
      },
    }),
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'The page of a link that verifies an address',
      tags: [],
      inDocument: false,
      access: 'public',
      query: { token: text() },
      replies: { 200: binary(HTML), 410: binary(HTML) },
      handler: async ({ query, browser }) => {
        const pages = pagesFor(browser);
        const asked = await profiles.verificationOf(query.token);
        if (asked === undefined) return pageReply(410, pages.gone());
        const { address, email, displayName } = asked;
        return pageReply(200, pages.question(`${displayName} (${email})`, address));
      },
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Verify the address',
      tags: [],
      inDocument: false,
      access: 'public',
      query: { token: text() },
      textBody: FORM,
      isBodyOptional: true,
      bodyLimit: BODY_LIMIT,
      replies: { 200: binary(HTML), 409: binary(HTML), 410: binary(HTML) },
      handler: async ({ query, browser }) => {
        const pages = pagesFor(browser);
        const confirmed = await profiles.confirmAddress(query.token);
        if (confirmed.kind === 'gone') return pageReply(410, pages.gone());
        return confirmed.kind === 'taken'
          ? pageReply(409, pages.taken(confirmed.address))
          : pageReply(200, pages.done(confirmed.address));
      },
    }),
  ];
}

function pageReply<S extends 200 | 409 | 410>(status: S, page: LinkPage) {
  return { status, headers: PAGE_FIELDS, stream: linkPage(page, STYLE) } as const;
}

const pagesFor = (browser: BrowserRequest) => verificationPages(browser.header('accept-language'));
