// The vacation of an account (docs/interface/mail.md, "Vacation").
import { nullable, optional } from 'superstruct';
import type { VacationSettings } from '../../../../actors/account/protocol.js';
import { LONGEST_SUBJECT } from '../../../../mail-format/writing/reply.js';
import { NO_VACATION } from '../../../../store/vacation.js';
import { flag, isTime, leaf, record, text, timestamp, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

const PATH = '/api/vacation';
const TAGS = ['Vacation'];
/** The characters of one body: each change of the vacation is one record of the log. */
const LONGEST_BODY = 16_384;
const MOST_DAYS = 30;

const shown = named(
  'Vacation',
  record({
    isEnabled: flag(),
    startsAt: nullable(timestamp()),
    endsAt: nullable(timestamp()),
    subject: nullable(text()),
    textBody: nullable(text()),
    htmlBody: nullable(text()),
    intervalDays: whole(),
  }),
);

const maybe = <T>(struct: ReturnType<typeof leaf<T>>) => optional(nullable(struct));
const prose = (most: number, isLine: boolean) =>
  leaf<string>(
    'string',
    (value) => {
      if (typeof value !== 'string') return 'must be a string';
      if (isLine && /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value)) return 'must be one line without control characters';
      if (!isLine && /[\0\p{Cs}]/u.test(value)) return 'must be text without NUL and lone surrogates';
      return value.length <= most || `must have at most ${most} characters`;
    },
    { maxLength: most },
  );
const time = (description: string) =>
  leaf<string>(
    'string',
    (value) =>
      (typeof value === 'string' && /(?:Z|[+-]\d\d:\d\d)$/.test(value) && isTime(value)) ||
      'must be an ISO 8601 time with Z or an offset',
    { format: 'date-time', description },
  );

const vacationInput = named(
  'VacationInput',
  record({
    isEnabled: flag(),
    startsAt: maybe(time('At once when absent')),
    endsAt: maybe(time('Without an end when absent')),
    subject: maybe(prose(LONGEST_SUBJECT, true)),
    textBody: maybe(prose(LONGEST_BODY, false)),
    htmlBody: maybe(prose(LONGEST_BODY, false)),
    intervalDays: maybe(
      leaf<number>(
        'integer',
        (value) =>
          (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_DAYS) ||
          `must be a whole number from 1 to ${MOST_DAYS}`,
        {
          minimum: 1,
          maximum: MOST_DAYS,
          description: `A sender gets one reply in this many days; ${NO_VACATION.intervalDays} when absent`,
        },
      ),
    ),
  }),
);

export function vacationRoutes(settings: VacationSettings): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'What the account answers while its owner is away',
      tags: TAGS,
      access: OWNER,
      replies: { 200: shown },
      handler: async ({ principal: { accountId } }) => {
        const found = await settings.read(accountId);
        if (found === undefined) return unauthenticated('invalid_token');
        const { startsAt, endsAt, period: _, ...rest } = found;
        return { status: 200, json: { ...rest, startsAt: isoOrNull(startsAt), endsAt: isoOrNull(endsAt) } };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: PATH,
      summary: 'Replace what the account answers while its owner is away',
      description:
        'Each sender gets one reply in `intervalDays`; a change of the text, or enabling it, begins again. Lists, bounces, automatic mail and junk get none (RFC 3834). Without a `subject` it is made from that of the email.',
      tags: TAGS,
      access: OWNER,
      body: vacationInput,
      example: { isEnabled: true, endsAt: '2027-01-06T00:00:00Z', textBody: 'I am back on January 6.' },
      replies: { 204: EMPTY },
      handler: async ({ principal, body }) => {
        const [startsAt, endsAt] = [msOrNull(body.startsAt), msOrNull(body.endsAt)];
        const [textBody, htmlBody] = [written(body.textBody), written(body.htmlBody)];
        if (startsAt !== null && endsAt !== null && endsAt <= startsAt)
          return invalid({ endsAt: ['must be after startsAt'] });
        if (body.isEnabled && textBody === null && htmlBody === null)
          return invalid({ textBody: ['send textBody or htmlBody'], htmlBody: ['send textBody or htmlBody'] });
        await settings.replace(principal.accountId, {
          ...{ isEnabled: body.isEnabled, startsAt, endsAt, textBody, htmlBody },
          subject: body.subject?.trim() || null,
          intervalDays: body.intervalDays ?? NO_VACATION.intervalDays,
        });
        return { status: 204 };
      },
    }),
  ];
}

const written = (text: string | null | undefined): string | null => (text?.trim() ? text : null);
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
const msOrNull = (text: string | null | undefined): number | null => (text == null ? null : Date.parse(text));
