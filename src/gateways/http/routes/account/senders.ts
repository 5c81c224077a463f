// The senders that an account allows or blocks (docs/junk.md).
import type { SenderBook } from '../../../../actors/account/protocol.js';
import { canonicalSender } from '../../../../mail-format/senders.js';
import { closedRecord, leaf, shortList } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

const PATH = '/api/senders';
const TAGS = ['Senders'];
/** The names of one list. */
const MOST = 500;
/** The characters of both lists: each change of them is one event for every client. */
const MOST_CHARACTERS = 32_768;

const sender = () =>
  leaf<string>(
    'string',
    (value) => (typeof value === 'string' && canonicalSender(value) !== undefined) || 'must be an address or a domain',
    { description: 'An address, or a domain with all below it', examples: ['ann@example.org', 'example.net'] },
  );

const senders = named(
  'Senders',
  closedRecord({ allowed: shortList(sender(), 0, MOST), blocked: shortList(sender(), 0, MOST) }),
);

export function senderRoutes(book: SenderBook): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Senders that are allowed or blocked',
      tags: TAGS,
      access: OWNER,
      replies: { 200: senders },
      handler: async ({ principal: { accountId } }) => {
        const found = await book.read(accountId);
        if (found === undefined) return unauthenticated('invalid_token');
        return { status: 200, json: { allowed: [...found.allowed], blocked: [...found.blocked] } };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: PATH,
      summary: 'Replace the lists of senders',
      description:
        'Mail of a blocked sender goes to Junk. Mail of an allowed one does not go there because of its content, unless its author is forged (DMARC). An address counts before its domain, a domain before the one above it. Names are stored in lower case, in order, each once.',
      tags: TAGS,
      access: OWNER,
      body: senders,
      example: { allowed: ['ann@example.org'], blocked: ['example.net'] },
      replies: { 204: EMPTY },
      handler: async ({ principal, body }) => {
        const [allowed, blocked] = [canonical(body.allowed), canonical(body.blocked)];
        const both = blocked.find((name) => allowed.includes(name));
        if (both !== undefined) return invalid({ blocked: [`${both} is allowed too`] });
        if ([...allowed, ...blocked].join('').length > MOST_CHARACTERS)
          return invalid({ blocked: [`has with the allowed ones more than ${MOST_CHARACTERS} characters`] });
        await book.replace(principal.accountId, { allowed, blocked });
        return { status: 204 };
      },
    }),
  ];
}

function canonical(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => canonicalSender(name)!))].sort();
}
