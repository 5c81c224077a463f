// What the routes of filters send and take: the structs, and rules between their form in JSON and the form of the mailbox.
import type { Infer } from 'superstruct';
import { nullable, optional } from 'superstruct';
import {
  type Filter,
  type Folder,
  FURTHER_ACTIONS,
  FURTHER_CONDITIONS,
  type Mailboxes,
  type MailboxProtocol,
} from '../../../../actors/mailbox/protocol.js';
import type { AnyStruct, Payload } from '../../../../actors/runtime/protocol.js';
import { isKeyword } from '../../../../mail-format/flags.js';
import { isUuid } from '../../../../mail-format/ids.js';
import { compilePattern, LONGEST_PATTERN } from '../../../../mail-format/words/safe-pattern.js';
import {
  atLeastOne,
  choice,
  flag,
  leaf,
  line,
  list,
  record,
  smallWhole,
  text,
  timestamp,
  uuid,
  whole,
  wholeWithin,
} from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, type Problem } from '../../problem.js';
import { isoTime } from '../emails/email-shapes.js';

const LONGEST_NAME = 200;
const LONGEST_CONDITION = 500;
/** RFC 5322 §3.6.8: printable ASCII without the colon. */
const FIELD_NAME = /^[!-9;-~]{1,100}$/;
/** A text of PostgreSQL cannot contain NUL, and half of a surrogate pair is not valid text. */
const UNFIT = /[\0\p{Cs}]/u;
/** How the mailbox names the flag that JSON has as `true`. */
const FLAGGED = '\\Flagged';

const flagOrKeyword = (notes = {}) =>
  leaf<boolean | string>(
    'flagOrKeyword',
    (value) =>
      typeof value === 'boolean' ||
      (typeof value === 'string' && isKeyword(value)) ||
      'must be true or a keyword: 1 to 100 characters of ASCII without spaces, brackets, quotes and backslashes',
    notes,
  );

const shown = {
  name: text(),
  isEnabled: flag(),
  priority: whole(),
  fromAddressContains: nullable(text()),
  toContains: nullable(text()),
  ccContains: nullable(text()),
  subjectContains: nullable(text()),
  bodyContains: nullable(text()),
  headerName: nullable(text()),
  headerContains: nullable(text()),
  listId: nullable(text()),
  hasAttachments: nullable(flag()),
  minSizeBytes: nullable(whole()),
  maxSizeBytes: nullable(whole()),
  matches: nullable(text()),
  markAsRead: nullable(flag()),
  flag: nullable(flagOrKeyword({ description: 'True: the email is flagged; a text: it gets this keyword' })),
  assignLabelId: nullable(uuid()),
  moveToFolderId: nullable(uuid()),
  forwardTo: nullable(text()),
  delete: nullable(flag()),
  stop: nullable(flag()),
};

export const filter = named(
  'Filter',
  record({
    id: uuid(),
    ...shown,
    disabledReason: nullable(choice('folderDeleted')),
    createdAt: timestamp(),
    updatedAt: timestamp(),
    lastAppliedAt: nullable(timestamp()),
    timesApplied: whole(),
    assignLabelName: nullable(text({ description: 'Name of the label of `assignLabelId`' })),
    assignLabelColor: nullable(text()),
    moveToFolderName: nullable(text({ description: 'Path of the folder of `moveToFolderId`' })),
  }),
);

const words = (most: number, notes = {}, fault: (value: string) => string | undefined = () => undefined) =>
  leaf<string>(
    'string',
    (value) => {
      if (typeof value !== 'string') return 'must be a string';
      if (value.length > most) return `must have at most ${most} characters`;
      if (UNFIT.test(value)) return 'must be text without NUL and lone surrogates';
      return value.trim() === '' || (fault(value) ?? true);
    },
    { maxLength: most, ...notes },
  );

const maybe = <S extends AnyStruct>(struct: S) => optional(nullable(struct));
const condition = (description?: string) => maybe(words(LONGEST_CONDITION, description && { description }));
const octets = () => maybe(wholeWithin(0, Number.MAX_SAFE_INTEGER));

const conditions = {
  fromAddressContains: condition(),
  toContains: condition('Part of a name or address of To'),
  ccContains: condition('Part of a name or address of Cc'),
  subjectContains: condition(),
  bodyContains: condition(),
  headerName: maybe(
    words(100, { description: 'A header field that the email has' }, (name) =>
      FIELD_NAME.test(name) ? undefined : 'must be the name of a header field',
    ),
  ),
  headerContains: condition('Part of the value of the field `headerName`'),
  listId: condition('Part of List-Id'),
  hasAttachments: maybe(flag()),
  minSizeBytes: octets(),
  maxSizeBytes: octets(),
  matches: maybe(
    words(
      LONGEST_PATTERN,
      {
        description:
          'A regular expression in the syntax of RE2, without regard to case, for the subject and the first 16,384 characters of the body',
      },
      (expression) => {
        const compiled = compilePattern(expression);
        return 'fault' in compiled ? compiled.fault : undefined;
      },
    ),
  ),
};
const CONDITIONS = {
  description: 'A condition that is absent, null or blank is not set; at least one must be set',
  ...atLeastOne(...Object.keys(conditions).filter((name) => name !== 'headerContains')),
};

export const filterInput = named(
  'FilterInput',
  record({
    name: line(LONGEST_NAME),
    isEnabled: flag(),
    priority: smallWhole({ description: 'Lower is evaluated first' }),
    ...conditions,
    markAsRead: maybe(flag()),
    flag: maybe(flagOrKeyword({ description: 'True flags the email; a text gives it this keyword' })),
    assignLabelId: maybe(text({ format: 'uuid', description: 'A label of the account' })),
    moveToFolderId: maybe(
      text({ description: 'A folder of the account (id or role), in place of the inbox; not Drafts' }),
    ),
    forwardTo: maybe(
      words(254, { description: 'A verified address of the account at a domain that is not hosted here' }),
    ),
    delete: maybe(flag()),
    stop: maybe(flag({ description: 'Filters after this one are not evaluated' })),
  }),
  CONDITIONS,
);

export const filterConditions = named('FilterConditions', record(conditions), CONDITIONS);

export const EXAMPLE: Infer<typeof filterInput> = {
  name: 'Newsletters',
  isEnabled: true,
  priority: 10,
  fromAddressContains: 'newsletter@',
  markAsRead: true,
};

export const testResult = named(
  'FilterTest',
  record({
    matchCount: whole(),
    matchedEmailIds: list(uuid()),
    untestedCount: whole({
      description:
        'Emails that could not be read in time or to the end of their body, without a match in the part that was read',
    }),
  }),
);

type Rule = Payload<MailboxProtocol, 'putFilter'>['rule'];
type Conditions = Pick<Rule, keyof Infer<typeof filterConditions>>;

export const noSuchLabel = () => invalid({ assignLabelId: ['names no label of this account'] });

export function ruleOf(body: Infer<typeof filterInput>): { readonly rule: Rule } | { readonly problem: Problem } {
  const { name, isEnabled, priority, markAsRead = null, assignLabelId = null, moveToFolderId = null } = body;
  const read = conditionsOf(body);
  if ('problem' in read) return read;
  const rule: Rule = {
    name: name.trim(),
    isEnabled,
    priority,
    ...read.conditions,
    markAsRead,
    flag: body.flag === true ? FLAGGED : body.flag || null,
    assignLabelId: assignLabelId?.toLowerCase() ?? null,
    moveToFolderId: moveToFolderId?.toLowerCase() ?? null,
    forwardTo: set(body.forwardTo)?.trim() ?? null,
    delete: body.delete ?? null,
    stop: body.stop ?? null,
  };
  if (rule.assignLabelId !== null && !isUuid(rule.assignLabelId)) return { problem: noSuchLabel() };
  return { rule };
}

export function conditionsOf(
  body: Infer<typeof filterConditions>,
): { readonly conditions: Conditions } | { readonly problem: Problem } {
  const conditions: Conditions = {
    fromAddressContains: set(body.fromAddressContains),
    toContains: set(body.toContains),
    ccContains: set(body.ccContains),
    subjectContains: set(body.subjectContains),
    bodyContains: set(body.bodyContains),
    headerName: set(body.headerName)?.trim() ?? null,
    headerContains: set(body.headerContains),
    listId: set(body.listId),
    hasAttachments: body.hasAttachments ?? null,
    minSizeBytes: body.minSizeBytes ?? null,
    maxSizeBytes: body.maxSizeBytes ?? null,
    matches: set(body.matches),
  };
  if (conditions.headerContains !== null && conditions.headerName === null) {
    return { problem: invalid({ headerName: ['must name the field in which `headerContains` is looked for'] }) };
  }
  const { minSizeBytes, maxSizeBytes } = conditions;
  if (minSizeBytes !== null && maxSizeBytes !== null && minSizeBytes > maxSizeBytes) {
    return { problem: invalid({ minSizeBytes: ['must be at most `maxSizeBytes`: no email would match'] }) };
  }
  if (Object.values(conditions).every((condition) => condition === null)) {
    return { problem: invalid({ conditions: ['at least one condition must be set'] }) };
  }
  return { conditions };
}

const set = (condition: string | null | undefined): string | null =>
  condition === undefined || condition === null || condition.trim() === '' ? null : condition;

/** The labels and folders that the filters name; the mailbox is asked only when there are any. */
async function foldersOf(
  mailbox: ReturnType<Mailboxes['of']>,
  filters: readonly Filter[],
): Promise<ReadonlyMap<string, Folder>> {
  const isNamed = ({ assignLabelId, moveToFolderId }: Filter) => Boolean(assignLabelId ?? moveToFolderId);
  if (!filters.some(isNamed)) return new Map();
  const outcome = await mailbox.ask('folders', {});
  return new Map((outcome.reply?.folders ?? []).map((folder) => [folder.id, folder]));
}

export async function shownFilters(
  mailbox: ReturnType<Mailboxes['of']>,
  filters: readonly Filter[],
): Promise<Infer<typeof filter>[]> {
  const byId = await foldersOf(mailbox, filters);
  return filters.map((given) => {
    const of = { ...NOT_SET, ...given } as WholeFilter;
    const label = byId.get(of.assignLabelId ?? '');
    return {
      ...of,
      flag: of.flag === FLAGGED ? true : of.flag,
      createdAt: isoTime(of.createdAt),
      updatedAt: isoTime(of.updatedAt),
      lastAppliedAt: of.lastAppliedAt === null ? null : isoTime(of.lastAppliedAt),
      assignLabelName: label?.path ?? null,
      assignLabelColor: label?.color ?? null,
      moveToFolderName: byId.get(of.moveToFolderId ?? '')?.path ?? null,
    };
  });
}

/** What an owner of 0.2.0 leaves out. */
const NOT_SET = { ...FURTHER_CONDITIONS, ...FURTHER_ACTIONS, disabledReason: null } as const;
type WholeFilter = { readonly [N in keyof Filter]-?: Exclude<Filter[N], undefined> };
