// The quota of an account: what it uses and may use, and which quota is the full one when a request finds no room.
import { nullable } from 'superstruct';
import { type AccountQuotas, limitingDomain } from '../../../../actors/quotas/protocol.js';
import { record, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { Problem, unauthenticated } from '../../problem.js';
import { defineRoute, READ, type Route } from '../../route.js';

const resource = named('QuotaResource', record({ used: whole(), limit: nullable(whole()) }));
const quota = named('Quota', record({ bytes: resource, messages: resource }));

/** Names the domain in a 507 where the quota of the domain leaves no room. */
export function namingFullDomain(route: Route, quotas: AccountQuotas): Route {
  if (!route.problems.includes(507)) return route;
  return {
    ...route,
    async handler(call) {
      const reply = await route.handler(call);
      if (call.principal === undefined || !(reply instanceof Problem) || reply.status !== 507) return reply;
      const usage = await quotas.usageOf(call.principal.accountId);
      const domain = usage && limitingDomain(usage);
      if (domain === undefined) return reply;
      const detail = `The domain ${domain} is full: its accounts use together what they may. Delete mail, or ask the operator for more room.`;
      return new Problem(507, { detail });
    },
  };
}

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
