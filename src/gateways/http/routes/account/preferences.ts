// The preferences of an account. Omitted fields keep their value; unknown fields are ignored.
import { optional } from 'superstruct';
import type { Preferences, PreferenceValues } from '../../../../actors/account/protocol.js';
import { choice, flag, leaf, line, record, shortList, timestamp, uuid, wholeWithin } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

const PATH = '/api/preferences';
const TAGS = ['Preferences'];

const CLOCK_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const clockTime = () =>
  leaf<string>(
    'string',
    (value) => (typeof value === 'string' && CLOCK_TIME.test(value)) || 'must be a time of the form HH:mm',
    { pattern: CLOCK_TIME.source, examples: ['09:00'] },
  );

const SIGNATURE_OCTETS = 10 * 1024;
const signature = () =>
  leaf<string>(
    'string',
    (value) => {
      if (typeof value !== 'string') return 'must be a string';
      // PostgreSQL stores neither NUL nor half of a surrogate pair.
      if (/[\0\p{Cs}]/u.test(value)) return 'must be text without NUL and lone surrogates';
      return Buffer.byteLength(value) <= SIGNATURE_OCTETS || `must have at most ${SIGNATURE_OCTETS} octets in UTF-8`;
    },
    {
      description: 'HTML, stored as given: a client sanitises it before it shows or sends it',
      maxLength: SIGNATURE_OCTETS,
    },
  );

const LONGEST_ADDRESS = 320;
const isAddress = (entry: unknown): entry is string =>
  typeof entry === 'string' &&
  entry.length <= LONGEST_ADDRESS &&
  /^[^\s\p{Cc}\p{Cs}]+@[^\s\p{Cc}\p{Cs}@]+$/u.test(entry);

const MOST_IDENTITIES = 10;
const LONGEST_NAME = 200;
const identities = () =>
  shortList(
    named(
      'AddressIdentity',
      record({
        address: leaf<string>('string', (value) => isAddress(value) || 'must be an address', {
          description: 'One of the further addresses of the account; other addresses have no effect',
        }),
        displayName: optional(
          line(LONGEST_NAME, {
            description: 'Beside the address in what is sent; without it the display name of the account',
          }),
        ),
        signature: optional(signature()),
      }),
      { description: 'Without `signature`, mail from the address ends with the signature of the account' },
    ),
    0,
    MOST_IDENTITIES,
  );

const MOST_PICTURE_SENDERS = 200;
const pictureSenders = () =>
  leaf<readonly string[]>(
    'strings',
    (value) => {
      if (!Array.isArray(value)) return 'must be an array of strings';
      if (value.length > MOST_PICTURE_SENDERS) return `must hold at most ${MOST_PICTURE_SENDERS} entries`;
      return value.every(isAddress) || 'must be an array of addresses';
    },
    {
      description: 'Addresses of senders whose pictures from elsewhere a client loads without being asked for',
      maxItems: MOST_PICTURE_SENDERS,
    },
  );

const fields = {
  theme: choice('light', 'dark', 'system'),
  displayDensity: choice('compact', 'comfortable', 'spacious'),
  emailsPerPage: wholeWithin(10, 100),
  defaultSort: choice('date', 'sender', 'subject'),
  showPreview: flag(),
  groupByDate: flag(),
  threads: flag({ description: 'Lists of the web mail have a row per thread' }),
  desktopNotifications: flag(),
  emailDigest: flag(),
  digestFrequency: choice('daily', 'weekly'),
  digestTime: clockTime(),
  undoSendSeconds: wholeWithin(0, 60),
  signature: signature(),
  identities: identities(),
  pictureSenders: pictureSenders(),
};
const NAMES = Object.keys(fields) as (keyof PreferenceValues)[];

const preferences = named('Preferences', record({ id: uuid(), userId: uuid(), updatedAt: timestamp(), ...fields }));
const changes = named(
  'PreferenceChanges',
  record({
    theme: optional(fields.theme),
    displayDensity: optional(fields.displayDensity),
    emailsPerPage: optional(fields.emailsPerPage),
    defaultSort: optional(fields.defaultSort),
    showPreview: optional(fields.showPreview),
    groupByDate: optional(fields.groupByDate),
    threads: optional(fields.threads),
    desktopNotifications: optional(fields.desktopNotifications),
    emailDigest: optional(fields.emailDigest),
    digestFrequency: optional(fields.digestFrequency),
    digestTime: optional(fields.digestTime),
    undoSendSeconds: optional(fields.undoSendSeconds),
    signature: optional(fields.signature),
    identities: optional(fields.identities),
    pictureSenders: optional(fields.pictureSenders),
  }),
);

export function preferenceRoutes(book: Preferences): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Preferences, as chosen or by default',
      tags: TAGS,
      access: OWNER,
      replies: { 200: preferences },
      handler: async ({ principal: { accountId } }) => {
        const found = await book.read(accountId);
        if (found === undefined) return unauthenticated('invalid_token');
        // An account has one set of preferences, so its id also names the set.
        return {
          status: 200,
          json: {
            ...found,
            identities: found.identities.map((identity) => ({ ...identity })),
            id: accountId,
            userId: accountId,
            updatedAt: found.updatedAt.toISOString(),
          },
        };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: PATH,
      summary: 'Choose some or all preferences',
      description: 'Preferences that are left out keep their values.',
      tags: TAGS,
      access: OWNER,
      body: changes,
      example: { theme: 'dark', emailsPerPage: 50 },
      replies: { 204: EMPTY },
      handler: async ({ principal, body }) => {
        const chosen = Object.fromEntries(
          NAMES.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]),
        );
        await book.choose(principal.accountId, chosen);
        return { status: 204 };
      },
    }),
  ];
}
