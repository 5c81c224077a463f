// Reports of protocol hosts that run separately: the store has an email of which no client is notified yet. The mailbox applies filters,
// sends events and counts.
import type { Mailboxes } from '../../../../actors/mailbox/protocol.js';
import { ActorFault } from '../../../../actors/runtime/errors.js';
import { isUuid } from '../../../../mail-format/ids.js';
import { choice, record, text } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { notFound, Problem, refused } from '../../problem.js';
import { type Access, defineRoute, EMPTY, type Route } from '../../route.js';

const INTERNAL: Access & object = { scopes: ['internal'] };

const EXAMPLE_ID = '0192f3a1-7c2e-7d4b-8f10-2b6a5c9e0d11';

const notification = named(
  'InternalNotification',
  record({
    type: choice('new_email'),
    userId: text({ format: 'uuid', description: 'Account that received the email' }),
    emailId: text({ format: 'uuid' }),
  }),
);

export function internalNotificationRoute(mailboxes: Mailboxes): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/internal-notifications',
    summary: 'Report a stored email to its user',
    description:
      'Filters are applied, then events are sent to the hub. A key made over REST reports email of its own account, a key made by the operator that of any account.',
    tags: ['Internal'],
    access: INTERNAL,
    body: notification,
    example: { type: 'new_email', userId: EXAMPLE_ID, emailId: EXAMPLE_ID },
    replies: { 200: EMPTY },
    problems: [404],
    handler: async ({ principal, body }) => {
      const [userId, emailId] = [body.userId.toLowerCase(), body.emailId.toLowerCase()];
      if (!principal.serviceWide && userId !== principal.accountId) {
        return new Problem(403, { detail: 'This key can report email of its own account only.' });
      }
      if (!isUuid(userId) || !isUuid(emailId)) return notFound();
      try {
        const outcome = await mailboxes.of(userId).ask('announce', { emailId });
        return outcome.reply === undefined ? refused(outcome.refusal) : { status: 200 };
      } catch (error) {
        // The fault names the account of the report, not of the credential, so the general rule for this fault does not apply.
        if (error instanceof ActorFault && error.code === 'no-such-account') return notFound();
        throw error;
      }
    },
  });
}
