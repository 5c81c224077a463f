// Suppressed addresses: what the account sends nothing to (docs/interface/mail.md, "Suppressed addresses").
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { foldedAddress } from '../../../../mail-format/address.js';
import { list, record, text, timestamp } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import { isoTime } from '../emails/email-shapes.js';

const PATH = '/api/suppressions';
const TAGS = ['Suppressions'];

const suppression = named(
  'Suppression',
  record({
    address: text({ description: 'Lower case' }),
    reason: text({ description: 'The reply or the report that refused the address' }),
    since: timestamp(),
    until: timestamp(),
  }),
);

export function suppressionRoutes(mailboxes: Mailboxes): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Addresses to which nothing is sent, oldest first',
      description:
        'A far side said that there is no such address (5.1.x), in its reply or in a later bounce. Mail to it fails at once for 30 days, with the reason `suppressed`; other recipients of the email get it. At most 10,000 addresses; then the oldest one leaves.',
      tags: TAGS,
      access: READ,
      replies: { 200: list(suppression) },
      handler: async ({ principal }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('suppressions', {});
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const json = outcome.reply.suppressions.map(({ address, reason, since, until }) => {
          return { address, reason, since: isoTime(since), until: isoTime(until) };
        });
        return { status: 200, json };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/{address}`,
      summary: 'Send to an address again',
      tags: TAGS,
      access: WRITE,
      params: { address: text({ description: 'The address, percent-encoded; its case does not matter' }) },
      replies: { 204: EMPTY },
      problems: [404],
      handler: async ({ principal, params }) => {
        const address = foldedAddress(params.address);
        if (address === undefined) return refused('noSuchSuppression');
        const { refusal } = await mailboxes.of(principal.accountId).ask('removeSuppression', { address });
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
  ];
}
