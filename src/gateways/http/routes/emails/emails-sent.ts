// Copies of what the account sent, and the sender addresses in them.
import { optional } from 'superstruct';
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { list, text } from '../../fields.js';
import { invalid, refused } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';
import { emailPage, listing, listingOf, pageOf } from './email-shapes.js';

export function sentRoutes(base: string, tags: readonly string[], mailboxes: Mailboxes): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${base}/sent`,
      summary: 'Sent emails, newest first',
      tags,
      access: READ,
      query: { ...listing, fromAddress: optional(text({ description: 'Part of the sender address' })) },
      replies: { 200: emailPage },
      handler: async ({ principal, query }) => {
        const filter = query.fromAddress?.trim() ?? '';
        // A text of PostgreSQL cannot contain NUL.
        if (filter.includes('\0')) return invalid({ fromAddress: ['must not hold control characters'] });
        const payload = { folder: 'sent', ...listingOf(query), ...(filter === '' ? {} : { fromAddress: filter }) };
        const outcome = await mailboxes.of(principal.accountId).ask('list', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: pageOf(outcome.reply, query) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${base}/sent/addresses`,
      summary: 'Distinct sender addresses of sent emails',
      tags,
      access: READ,
      replies: { 200: list(text()) },
      handler: async ({ principal }) => {
        const outcome = await mailboxes.of(principal.accountId).ask('sentAddresses', {});
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: outcome.reply.addresses };
      },
    }),
  ];
}
