// Where the mail of an account is sent on (docs/forwarding.md).

import { nullable } from 'superstruct';
import type { ForwardingSettings } from '../../../../actors/account/protocol.js';
import { closedRecord, flag, text } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

const PATH = '/api/forwarding';
const TAGS = ['Forwarding'];
const TARGET =
  'verified address of this account at a domain that is not hosted here, or one that the operator has verified for forwarding';
export const NOT_VERIFIED = `must be a ${TARGET}`;

const forwarding = named(
  'Forwarding',
  closedRecord({
    isEnabled: flag(),
    address: nullable(text({ description: `A ${TARGET}`, maxLength: 254 })),
    keepCopy: flag({ description: 'Whether the account keeps what is forwarded' }),
  }),
);

export function forwardingRoutes(settings: ForwardingSettings): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Where the mail of the account is sent on',
      tags: TAGS,
      access: OWNER,
      replies: { 200: forwarding },
      handler: async ({ principal: { accountId } }) => {
        const found = await settings.read(accountId);
        return found === undefined ? unauthenticated('invalid_token') : { status: 200, json: found };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: PATH,
      summary: 'Send the mail of the account on, or stop it',
      description:
        'All mail that arrives and is not junk goes to the address. Without a copy, mail that the address refuses comes to the inbox.',
      tags: TAGS,
      access: OWNER,
      body: forwarding,
      example: { isEnabled: true, address: 'ann@example.org', keepCopy: true },
      replies: { 204: EMPTY },
      handler: async ({ principal: { accountId }, body }) => {
        const { isEnabled, address: given, keepCopy } = body;
        const written = given?.trim() || null;
        const address = written === null ? null : ((await settings.targetOf(accountId, written)) ?? null);
        if ((written !== null || isEnabled) && address === null) return invalid({ address: [NOT_VERIFIED] });
        await settings.replace(accountId, { isEnabled, address, keepCopy });
        return { status: 204 };
      },
    }),
  ];
}
