// The profile of an account and its additional addresses. Two routes of the interface are not implemented (docs/interface/rest.md,
// "Resources") and always answer so; address-verification.ts has the mail and the page that verify an address.
import { nullable } from 'superstruct';
import type { AddressRefusal, MailRefusal, ProfileAddress, Profiles } from '../../../../actors/account/protocol.js';
import { EMAIL, flag, idParameter, line, list, record, text, timestamp, uuid } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound, Problem, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';
import { type ResumeSources, resumeRoute } from './sending.js';

const PATH = '/api/profile';
const TAGS = ['Profile'];
const LONGEST_NAME = 200;

const additionalAddress = named(
  'AdditionalAddress',
  record({
    id: uuid(),
    address: text(EMAIL),
    isVerified: flag(),
    addedAt: timestamp(),
    isAlias: flag({ description: 'The operator leads the address to this account; it cannot be given up' }),
    canSend: flag({ description: 'The account may send as the address' }),
  }),
);
const sending = named(
  'Sending',
  record({
    isSuspended: flag({ description: 'No mail is sent; mail still arrives' }),
    reason: nullable(text()),
    suspendedAt: nullable(timestamp()),
    canResume: flag({ description: 'The user may lift the suspension: `POST /api/profile/sending/resume`' }),
  }),
);
const profile = named(
  'Profile',
  record({
    id: uuid(),
    email: text(EMAIL),
    displayName: text(),
    createdAt: timestamp(),
    lastLoginAt: timestamp({
      description: 'Last use of a login or an API key; before the first, when the account was made',
    }),
    additionalAddresses: list(additionalAddress),
    sending,
  }),
);

const REFUSALS: Readonly<Record<Exclude<AddressRefusal, 'noAccount'>, string>> = {
  invalid: 'must be an email address',
  tagged: 'must have no +tag: mail for a tagged address reaches the address without the tag',
  own: 'is the address of the account itself',
  known: 'is an address of the account already',
  full: 'the account has as many additional addresses as it may',
};

const profileChange = named('ProfileChange', record({ displayName: line(LONGEST_NAME) }));
const newAddress = named('NewAddress', record({ address: text({ ...EMAIL, description: 'An email address' }) }));

interface ProfileSources extends ResumeSources {
  readonly profiles: Profiles;
}

export function profileRoutes(sources: ProfileSources): readonly Route[] {
  const { profiles, sending: status } = sources;
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'The account, with its additional addresses',
      tags: TAGS,
      access: OWNER,
      replies: { 200: profile },
      handler: async ({ principal }) => {
        const found = await profiles.read(principal.accountId);
        // A client reads it because it is told of a change.
        const suspension = await status.suspensionOf(principal.accountId, { isNow: true });
        if (found === undefined) return gone();
        const { id, email, displayName, createdAt, lastLoginAt, additionalAddresses } = found;
        return {
          status: 200,
          json: {
            id,
            email,
            displayName,
            createdAt: createdAt.toISOString(),
            lastLoginAt: lastLoginAt.toISOString(),
            additionalAddresses: additionalAddresses.map(addressOf),
            sending: {
              isSuspended: suspension !== null,
              reason: suspension?.reason ?? null,
              suspendedAt: suspension && new Date(suspension.since).toISOString(),
              canResume: suspension?.by === 'server',
            },
          },
        };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: PATH,
      summary: 'Change the display name',
      tags: TAGS,
      access: OWNER,
      body: profileChange,
      example: { displayName: 'Alice Example' },
      replies: { 204: EMPTY },
      handler: async ({ principal, body }) =>
        (await profiles.rename(principal.accountId, body.displayName)) ? { status: 204 } : gone(),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/addresses`,
      summary: 'Add an address; it receives and sends nothing before it is verified',
      description:
        'An address at a domain of this server is verified by the operator. Another one gets a mail with a link, which is good for 48 hours, and is for forwarding only. 409 while `MANSIO_PUBLIC_URL` is not set. At most 5 mails per account and day, and one per address and hour.',
      tags: TAGS,
      access: OWNER,
      body: newAddress,
      example: { address: 'sales@example.org' },
      replies: { 201: additionalAddress },
      problems: [409, 429],
      handler: async ({ principal, body }) => {
        const added = await profiles.addAddress(principal.accountId, body.address.trim());
        if (added === 'noAccount') return gone();
        if (typeof added === 'string') return invalid({ address: [REFUSALS[added]] });
        if ('kind' in added) return verificationProblem(added);
        return { status: 201, json: addressOf(added) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/addresses/{addressId}`,
      summary: 'Give up an additional address',
      tags: TAGS,
      access: OWNER,
      params: { addressId: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) =>
        (await profiles.removeAddress(principal.accountId, params.addressId)) ? { status: 204 } : notFound(),
    }),
    unimplemented('send-verification', 'Send the verification of an address: not implemented'),
    unimplemented('verify', 'Verify an address: not implemented'),
    resumeRoute(sources),
  ];
}

function unimplemented(step: string, summary: string): Route {
  return defineRoute({
    method: 'POST',
    path: `${PATH}/addresses/{addressId}/${step}`,
    summary,
    tags: TAGS,
    access: OWNER,
    params: { addressId: text() },
    replies: {},
    problems: [501],
    handler: async () =>
      new Problem(501, { detail: 'Addresses are verified by a link that is mailed to them, or by the operator.' }),
  });
}

const MAIL_REFUSALS: Readonly<Record<Exclude<MailRefusal['kind'], 'tooManyMails'>, string>> = {
  noPublicUrl: 'The operator has to set MANSIO_PUBLIC_URL before addresses can be verified by mail.',
  hosted: 'An address at a domain of this server is verified by its operator.',
  verified: 'The address is verified already.',
  noSuchAddress: 'The address was given up.',
};

/** The reply when no mail that verifies an address is sent. */
export function verificationProblem(refusal: MailRefusal): Problem {
  if (refusal.kind !== 'tooManyMails') return new Problem(409, { detail: MAIL_REFUSALS[refusal.kind] });
  return new Problem(429, {
    detail: 'At most 5 mails that verify addresses are sent per account and day, and one per address and hour.',
    headers: [['Retry-After', String(Math.ceil(refusal.againInMs / 1000))]],
  });
}

/** The account was deleted during the request. */
const gone = (): Problem => unauthenticated('invalid_token');

function addressOf({ id, address, isVerified, addedAt, isAlias, canSend }: ProfileAddress) {
  return { id, address, isVerified, addedAt: addedAt.toISOString(), isAlias, canSend };
}
