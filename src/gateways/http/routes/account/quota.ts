// The quota of an account: what it uses and may use.
import { nullable } from 'superstruct';
import type { AccountQuotas } from '../../../../actors/quotas/protocol.js';
import { record, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { unauthenticated } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';

const resource = named('QuotaResource', record({ used: whole(), limit: nullable(whole()) }));
const quota = named('Quota', record({ bytes: resource, messages: resource }));

export function quotaRoute(quotas: AccountQuotas): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/quota',
    summary: 'What the mailbox uses and may use',
    description:
      'Every email counts once, however many folders and labels it has, with the size of its message: drafts, sent mail, and mail in the trash too. A `limit` of null is no limit.',
    tags: ['Quota'],
    access: READ,
    replies: { 200: quota },
    handler: async ({ principal: { accountId } }) => {
      const found = await quotas.usageOf(accountId);
      if (found === undefined) return unauthenticated('invalid_token');
      const { used, limit } = found;
      return {
        status: 200,
        json: {
          bytes: { used: used.bytes, limit: limit.bytes },
          messages: { used: used.messages, limit: limit.messages },
        },
      };
    },
  });
}
