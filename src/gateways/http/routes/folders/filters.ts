// The filters of an account. A condition that is absent, null or blank is not set; at least one must be set. PUT replaces the whole rule.
import type { ForwardingSettings } from '../../../../actors/account/protocol.js';
import type { Mailboxes, MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { Refusal } from '../../../../actors/runtime/protocol.js';
import { idParameter, limitParameter, list } from '../../fields.js';
import { invalid, type Problem, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import { NOT_VERIFIED } from '../account/forwarding.js';
import {
  conditionsOf,
  EXAMPLE,
  filter,
  filterConditions,
  filterInput,
  noSuchLabel,
  ruleOf,
  shownFilters,
  testResult,
} from './filter-shapes.js';

const MOST_TESTED = 1000;
const TESTED = 10;

/** Why a filter was not stored. */
function notPut(refusal: Refusal<MailboxProtocol, 'putFilter'>): Problem {
  switch (refusal) {
    case 'noSuchLabel':
      return noSuchLabel();
    case 'noSuchFolder':
      return invalid({ moveToFolderId: ['names no folder of this account that mail can be moved to'] });
    case 'tooMany':
      return invalid({ name: ['there are as many filters as an account may have'] });
    case 'tooManyExpressions':
      return invalid({ matches: ['there are as many filters with regular expressions as an account may have'] });
    case 'noSuchFilter':
      return refused(refusal);
  }
}

export function filterRoutes(
  base: string,
  tags: readonly string[],
  mailboxes: Mailboxes,
  forwarding: Pick<ForwardingSettings, 'targetOf'>,
): readonly Route[] {
  /** The rule of a body, whose address is one that the account may forward to. */
  async function checkedRule(
    accountId: string,
    body: Parameters<typeof ruleOf>[0],
  ): Promise<ReturnType<typeof ruleOf>> {
    const read = ruleOf(body);
    if ('problem' in read || read.rule.forwardTo === null) return read;
    const forwardTo = await forwarding.targetOf(accountId, read.rule.forwardTo);
    if (forwardTo === undefined) return { problem: invalid({ forwardTo: [NOT_VERIFIED] }) };
    return { rule: { ...read.rule, forwardTo } };
  }

  return [
    defineRoute({
      method: 'GET',
      path: base,
      summary: 'Filters, in the order of evaluation',
      tags,
      access: READ,
      replies: { 200: list(filter) },
      handler: async ({ principal }) => {
        const mailbox = mailboxes.of(principal.accountId);
        const outcome = await mailbox.ask('filters', {});
        if (outcome.reply === undefined) return refused(outcome.refusal);
        const { filters } = outcome.reply;
        return { status: 200, json: await shownFilters(mailbox, filters) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: base,
      summary: 'Make a filter',
      tags,
      access: WRITE,
      body: filterInput,
      example: EXAMPLE,
      replies: { 201: filter },
      handler: async ({ principal, body }) => {
        const read = await checkedRule(principal.accountId, body);
        if ('problem' in read) return read.problem;
        const mailbox = mailboxes.of(principal.accountId);
        const outcome = await mailbox.ask('putFilter', read);
        if (outcome.reply === undefined) return notPut(outcome.refusal);
        return { status: 201, json: (await shownFilters(mailbox, [outcome.reply]))[0]! };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: `${base}/{id}`,
      summary: 'Replace a filter',
      description: 'The filter is replaced as a whole: conditions and actions that are left out are not set any more.',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      body: filterInput,
      example: EXAMPLE,
      replies: { 204: EMPTY },
      handler: async ({ principal, params, body }) => {
        const read = await checkedRule(principal.accountId, body);
        if ('problem' in read) return read.problem;
        const payload = { filterId: params.id, rule: read.rule };
        const { refusal } = await mailboxes.of(principal.accountId).ask('putFilter', payload);
        return refusal === undefined ? { status: 204 } : notPut(refusal);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${base}/{id}`,
      summary: 'Delete a filter',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) => {
        const { refusal } = await mailboxes.of(principal.accountId).ask('deleteFilter', { filterId: params.id });
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/{id}/test`,
      summary: 'Which of the newest emails of the inbox a filter matches; it changes nothing',
      tags,
      access: WRITE,
      params: { id: idParameter() },
      query: { limit: limitParameter(TESTED, MOST_TESTED) },
      replies: { 200: testResult },
      handler: async ({ principal, params, query }) => {
        const payload = { filterId: params.id, limit: query.limit };
        const outcome = await mailboxes.of(principal.accountId).ask('testFilter', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: outcome.reply };
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${base}/test`,
      summary: 'Which of the newest emails of the inbox a filter with these conditions would match; it changes nothing',
      tags,
      access: WRITE,
      query: { limit: limitParameter(TESTED, MOST_TESTED) },
      body: filterConditions,
      example: { fromAddressContains: 'newsletter@' },
      replies: { 200: testResult },
      handler: async ({ principal, query, body }) => {
        const read = conditionsOf(body);
        if ('problem' in read) return read.problem;
        const payload = { conditions: read.conditions, limit: query.limit };
        const outcome = await mailboxes.of(principal.accountId).ask('testConditions', payload);
        if (outcome.reply === undefined) return refused(outcome.refusal);
        return { status: 200, json: outcome.reply };
      },
    }),
  ];
}
