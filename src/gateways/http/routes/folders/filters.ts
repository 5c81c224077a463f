// The filters of an account. A condition that is absent, null or blank is not set; at least one must be set. PUT replaces the whole rule.
import type { Infer } from 'superstruct';
import { nullable, optional } from 'superstruct';
import type { Filter, Label, Mailboxes } from '../../../../actors/mailbox/protocol.js';
import type { AnyStruct } from '../../../../actors/runtime/protocol.js';
import { isUuid } from '../../../../mail-format/ids.js';
import {
  atLeastOne,
  flag,
  idParameter,
  leaf,
  limitParameter,
  line,
  list,
  record,
  smallWhole,
  text,
  timestamp,
  uuid,
  whole,
} from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, type Problem, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';
import { isoTime } from '../emails/email-shapes.js';

const LONGEST_NAME = 200;
const LONGEST_CONDITION = 500;
const MOST_TESTED = 1000;
const TESTED = 10;
/** A text of PostgreSQL cannot contain NUL, and half of a surrogate pair is not valid text. */
const UNFIT = /[\0\p{Cs}]/u;

const shown = {
  name: text(),
  isEnabled: flag(),
  priority: whole(),
  fromAddressContains: nullable(text()),
  subjectContains: nullable(text()),
  bodyContains: nullable(text()),
  hasAttachments: nullable(flag()),
  markAsRead: nullable(flag()),
  assignLabelId: nullable(uuid()),
  delete: nullable(flag()),
};

const filter = named(
  'Filter',
  record({
    id: uuid(),
    ...shown,
    createdAt: timestamp(),
    updatedAt: timestamp(),
    lastAppliedAt: nullable(timestamp()),
    timesApplied: whole(),
    assignLabelName: nullable(text({ description: 'Name of the label of `assignLabelId`' })),
    assignLabelColor: nullable(text()),
  }),
);

const words = (most: number) =>
  leaf<string>(
    'string',
    (value) => {
      if (typeof value !== 'string') return 'must be a string';
      if (value.length > most) return `must have at most ${most} characters`;
      return !UNFIT.test(value) || 'must be text';
    },
    { maxLength: most },
  );

const maybe = <S extends AnyStruct>(struct: S) => optional(nullable(struct));
const condition = () => maybe(words(LONGEST_CONDITION));

const conditions = {
  fromAddressContains: condition(),
  subjectContains: condition(),
  bodyContains: condition(),
  hasAttachments: maybe(flag()),
};
const CONDITIONS = {
  description: 'A condition that is absent, null or blank is not set; at least one must be set',
  ...atLeastOne(...Object.keys(conditions)),
};

const filterInput = named(
  'FilterInput',
  record({
    name: line(LONGEST_NAME),
    isEnabled: flag(),
    priority: smallWhole({ description: 'Lower is evaluated first' }),
    ...conditions,
    markAsRead: maybe(flag()),
    assignLabelId: maybe(text({ format: 'uuid', description: 'A label of the account' })),
    delete: maybe(flag()),
  }),
  CONDITIONS,
);

const filterConditions = named('FilterConditions', record(conditions), CONDITIONS);

const EXAMPLE: Infer<typeof filterInput> = {
  name: 'Newsletters',
  isEnabled: true,
  priority: 10,
  fromAddressContains: 'newsletter@',
  markAsRead: true,
};

const testResult = named(
  'FilterTest',
  record({
    matchCount: whole(),
    matchedEmailIds: list(uuid()),
    untestedCount: whole({
      description:
        'Emails whose body could not be read in time or to its end, without a match in the part that was read',
    }),
  }),
);

const noSuchLabel = () => invalid({ assignLabelId: ['names no label of this account'] });
const tooMany = () => invalid({ name: ['there are as many filters as an account may have'] });

export function filterRoutes(base: string, tags: readonly string[], mailboxes: Mailboxes): readonly Route[] {
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
        return { status: 200, json: shownFilters(filters, await labelsOf(mailbox, filters)) };
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
        const read = ruleOf(body);
        if ('problem' in read) return read.problem;
        const mailbox = mailboxes.of(principal.accountId);
        const outcome = await mailbox.ask('createFilter', read);
        if (outcome.reply === undefined) return outcome.refusal === 'noSuchLabel' ? noSuchLabel() : tooMany();
        const made = [outcome.reply];
        return { status: 201, json: shownFilters(made, await labelsOf(mailbox, made))[0]! };
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
        const read = ruleOf(body);
        if ('problem' in read) return read.problem;
        const payload = { filterId: params.id, rule: read.rule };
        const { refusal } = await mailboxes.of(principal.accountId).ask('updateFilter', payload);
        if (refusal === 'noSuchLabel') return noSuchLabel();
        return refusal === undefined ? { status: 204 } : refused(refusal);
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

type Rule = Omit<Filter, 'id' | 'createdAt' | 'updatedAt' | 'lastAppliedAt' | 'timesApplied'>;
type Conditions = Pick<Rule, keyof Infer<typeof filterConditions>>;

function ruleOf(body: Infer<typeof filterInput>): { readonly rule: Rule } | { readonly problem: Problem } {
  const { name, isEnabled, priority, markAsRead = null, assignLabelId = null } = body;
  const read = conditionsOf(body);
  if ('problem' in read) return read;
  const rule: Rule = {
    name: name.trim(),
    isEnabled,
    priority,
    ...read.conditions,
    markAsRead,
    assignLabelId: assignLabelId?.toLowerCase() ?? null,
    delete: body.delete ?? null,
  };
  if (rule.assignLabelId !== null && !isUuid(rule.assignLabelId)) return { problem: noSuchLabel() };
  return { rule };
}

function conditionsOf(
  body: Infer<typeof filterConditions>,
): { readonly conditions: Conditions } | { readonly problem: Problem } {
  const conditions: Conditions = {
    fromAddressContains: set(body.fromAddressContains),
    subjectContains: set(body.subjectContains),
    bodyContains: set(body.bodyContains),
    hasAttachments: body.hasAttachments ?? null,
  };
  if (Object.values(conditions).every((condition) => condition === null)) {
    return { problem: invalid({ conditions: ['at least one condition must be set'] }) };
  }
  return { conditions };
}

const set = (condition: string | null | undefined): string | null =>
  condition === undefined || condition === null || condition.trim() === '' ? null : condition;

/** The labels that the filters assign; the mailbox is asked only when there are any. */
async function labelsOf(mailbox: ReturnType<Mailboxes['of']>, filters: readonly Filter[]): Promise<readonly Label[]> {
  if (filters.every(({ assignLabelId }) => assignLabelId === null)) return [];
  const outcome = await mailbox.ask('labels', {});
  return outcome.reply?.labels ?? [];
}

function shownFilters(filters: readonly Filter[], labels: readonly Label[]): Infer<typeof filter>[] {
  const byId = new Map(labels.map((label) => [label.id, label]));
  return filters.map((of) => {
    const label = of.assignLabelId === null ? undefined : byId.get(of.assignLabelId);
    return {
      ...of,
      createdAt: isoTime(of.createdAt),
      updatedAt: isoTime(of.updatedAt),
      lastAppliedAt: of.lastAppliedAt === null ? null : isoTime(of.lastAppliedAt),
      assignLabelName: label?.name ?? null,
      assignLabelColor: label?.color ?? null,
    };
  });
}
