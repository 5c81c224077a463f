// The profile of an account and its additional addresses. Verifying an address is not implemented (docs/interface/rest.md, "Resources"):
// those two routes always answer so.
import type { AddressRefusal, ProfileAddress, Profiles } from '../../../../actors/account/protocol.js';
import { EMAIL, flag, idParameter, line, list, record, text, timestamp, uuid } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound, Problem, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

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

export function profileRoutes(profiles: Profiles): readonly Route[] {
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
      tags: TAGS,
      access: OWNER,
      body: newAddress,
      example: { address: 'sales@example.org' },
      replies: { 201: additionalAddress },
      handler: async ({ principal, body }) => {
        const added = await profiles.addAddress(principal.accountId, body.address.trim());
        if (added === 'noAccount') return gone();
        if (typeof added === 'string') return invalid({ address: [REFUSALS[added]] });
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
    handler: async () => new Problem(501, { detail: 'Addresses are verified by the operator of this server.' }),
  });
}

/** The account was deleted during the request. */
const gone = (): Problem => unauthenticated('invalid_token');

function addressOf({ id, address, isVerified, addedAt, isAlias, canSend }: ProfileAddress) {
  return { id, address, isVerified, addedAt: addedAt.toISOString(), isAlias, canSend };
}
