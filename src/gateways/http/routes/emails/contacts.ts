// Contacts: the people to whom the account has written, for completing recipients.
import { optional } from 'superstruct';
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { leaf, list, record, text } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { refused } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';

const MOST_CONTACTS = 20;
const LONGEST_QUERY = 200;

const contact = named('Contact', record({ address: text(), displayName: text() }));

export function contactsRoute(mailboxes: Mailboxes): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/contacts',
    summary: 'People to whom the account has written, best first',
    description:
      'Those who were written to most recently and most often come first, at most 20. Each word of `q` begins a word of the name or the address, or the address begins with `q`; case and accents do not count. Without `q`: the best of all. They come from the newest 5,000 emails in Sent.',
    tags: ['Emails'],
    access: READ,
    query: {
      q: optional(
        leaf<string>(
          'string',
          (value) =>
            (typeof value === 'string' && value.length <= LONGEST_QUERY) ||
            `must have at most ${LONGEST_QUERY} characters`,
          { maxLength: LONGEST_QUERY },
        ),
      ),
    },
    replies: { 200: list(contact) },
    handler: async ({ principal, query: { q = '' } }) => {
      const outcome = await mailboxes.of(principal.accountId).ask('contacts', { text: q, limit: MOST_CONTACTS });
      if (outcome.reply === undefined) return refused(outcome.refusal);
      return { status: 200, json: outcome.reply.contacts };
    },
  });
}
