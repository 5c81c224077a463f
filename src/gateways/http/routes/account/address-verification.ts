// Verification of an address elsewhere by mail (docs/interface/rest.md, "Resources"): a request sends the mail again, and the page of its
// link verifies. GET shows who asks and changes nothing, because mail programs and scanners open links by themselves; the button posts.
import type { Profiles } from '../../../../actors/account/protocol.js';
import type { AddressVerification } from '../../../../store/directory.js';
import { idParameter, text } from '../../fields.js';
import { type LinkPage, linkPage, PAGE_FIELDS } from '../../page/link-page.js';
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
      handler: async ({ query }) => {
        const asked = await profiles.verificationOf(query.token);
        return asked === undefined ? pageReply(410, GONE) : pageReply(200, question(asked));
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
      handler: async ({ query }) => {
        const confirmed = await profiles.confirmAddress(query.token);
        if (confirmed.kind === 'gone') return pageReply(410, GONE);
        return confirmed.kind === 'taken'
          ? pageReply(409, TAKEN(confirmed.address))
          : pageReply(200, DONE(confirmed.address));
      },
    }),
  ];
}

/** The page is in English, as the mail is. */
type Statement = Omit<LinkPage, 'language'>;

function pageReply<S extends 200 | 409 | 410>(status: S, page: Statement) {
  return { status, headers: PAGE_FIELDS, stream: linkPage({ language: 'en', ...page }, STYLE) } as const;
}

const question = ({ address, email, displayName }: AddressVerification): Statement => ({
  title: 'Confirm your address',
  text: [
    `${displayName} (${email}) asks that mail may be forwarded to ${address}.`,
    'If you do not know about this, close this page: nothing is forwarded to you then.',
  ],
  button: { label: 'Confirm', isConfirmed: false },
});

const DONE = (address: string): Statement => ({
  title: 'Your address is confirmed',
  text: [`Mail may be forwarded to ${address} now. You can close this page.`],
});

const TAKEN = (address: string): Statement => ({
  title: 'The address belongs to another account',
  text: [`Another account of this server has confirmed ${address}. It has to give the address up first.`],
});

const GONE: Statement = {
  title: 'This link no longer works',
  text: [
    'It was used, a newer mail has replaced it, or its 48 hours are over. Whoever asked can have another mail sent.',
  ],
};
