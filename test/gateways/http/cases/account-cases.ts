// Says how the routes about an account reply: keys, profile, preferences, forwarding, senders.
import {
  ADDRESS_ID,
  BOBS_KEY_ID,
  BOBS_LINK,
  BOBS_LINKED_ID,
  BOBS_SESSION_ID,
  KEY_ID,
  LINKED_ID,
  SERVICE_KEY_ID,
  SESSION_ID,
  VERIFIED_ELSEWHERE,
} from '../fake-account-api.js';
import { ALICE } from '../fakes.js';
import { type Case, NO_ID } from './endpoint-case.js';

export const errorsOn =
  (...fields: string[]): NonNullable<Case['check']> =>
  (t, body) =>
    t.deepEqual(Object.keys(body.errors), fields);

export const NOT_OWNER: readonly Case[] = [
  { as: ['api:read', 'api:write', 'smtp', 'imap', 'pop3'], status: 403 },
  { as: ['internal'], status: 403 },
];
const LONG_LINES = ['', '  ', 'a\r\nb', 'a\u0000', 'a\u2028b', '\ud800', 7, null];
const isProfile: NonNullable<Case['check']> = (t, _body, { headers }) => {
  t.is(headers.get('content-type'), 'application/x-apple-aspen-config; charset=utf-8');
  t.is(headers.get('content-disposition'), 'attachment; filename="mail.mobileconfig"');
};
/** The cases of the account's own routes, by `METHOD path`. */
export const ACCOUNT: Readonly<Record<string, readonly Case[]>> = {
  'GET /api/quota': [
    {
      as: ['api:read'],
      status: 200,
      check: (t, body) => t.deepEqual(body, { bytes: { used: 300, limit: 1_000 }, messages: { used: 3, limit: null } }),
    },
    { as: ['imap'], status: 403 },
  ],
  'GET /api/sessions': [
    {
      status: 200,
      check: (t, body) =>
        t.deepEqual(body, [
          {
            id: SESSION_ID,
            createdAt: '2026-01-02T03:04:05.006Z',
            lastUsedAt: '2026-01-02T03:04:05.006Z',
            userAgent: 'Firefox',
            isCurrent: false,
          },
        ]),
    },
    ...NOT_OWNER,
  ],
  'POST /api/sessions': [
    {
      headers: { 'user-agent': 'Browser' },
      status: 201,
      check: (t, body, { headers }) => {
        t.like(body, { userAgent: 'Browser', isCurrent: true });
        t.is(headers.get('set-cookie'), 'mansio=mansio_session; Max-Age=15552000; Path=/; HttpOnly; SameSite=Strict');
      },
    },
    { json: { link: BOBS_LINK }, status: 201 },
    { json: { link: 7 }, status: 400, fields: ['link'] },
    { headers: { origin: 'https://evil.example' }, status: 403 },
    ...NOT_OWNER,
  ],
  'DELETE /api/sessions/{id}': [
    { path: `/api/sessions/${BOBS_SESSION_ID}`, status: 404 },
    { path: `/api/sessions/${NO_ID}`, status: 404 },
    { path: '/api/sessions/x', status: 404 },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/sessions/${SESSION_ID}` })),
    {
      path: `/api/sessions/${SESSION_ID}`,
      status: 204,
      check: (t, _body, { headers }) => t.is(headers.get('set-cookie'), null),
    },
    { path: `/api/sessions/${SESSION_ID}`, status: 404 },
  ],
  // Its success needs a session: routes/account/session-links.test.ts.
  'POST /api/sessions/links': [{ status: 403 }, ...NOT_OWNER],
  'DELETE /api/sessions/links/{id}': [
    { path: `/api/sessions/links/${BOBS_LINKED_ID}`, status: 404 },
    { path: `/api/sessions/links/${NO_ID}`, status: 404 },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/sessions/links/${LINKED_ID}` })),
    { path: `/api/sessions/links/${LINKED_ID}`, status: 204 },
    { path: `/api/sessions/links/${LINKED_ID}`, status: 404 },
  ],
  'GET /api/smtp-credentials': [
    {
      status: 200,
      check: (t, body) => {
        t.like(body.connectionInfo, {
          smtp: { enabled: true, serverName: 'mail.example.test', port: 587, securePort: 465 },
          pop3: { enabled: false },
          imap: { enabled: true, serverName: 'mail.example.test', port: 143, securePort: 993 },
          ...{ smtpServer: 'mail.example.test', smtpPort: 587, smtpSecurePort: 465, smtpEnabled: true },
          ...{ pop3Server: '', pop3Port: 0, pop3SecurePort: 0, pop3Enabled: false },
          ...{ imapServer: 'mail.example.test', imapPort: 143, imapSecurePort: 993, imapEnabled: true },
          ...{ username: 'a@example.test', activeKeyCount: 2 },
        });
        t.like(body.keys[0], { id: KEY_ID, isActive: true, lastUsedAt: null, scopes: ['imap', 'smtp'] });
        t.is(body.keys.length, 2);
        t.false('apiKey' in body.keys[0]);
      },
    },
    ...NOT_OWNER,
  ],
  'POST /api/smtp-credentials/{keyId}/rotate': [
    { path: `/api/smtp-credentials/${BOBS_KEY_ID}/rotate`, status: 404 },
    { path: `/api/smtp-credentials/${NO_ID}/rotate`, status: 404 },
    { path: '/api/smtp-credentials/x/rotate', status: 404 },
    { path: `/api/smtp-credentials/${SERVICE_KEY_ID}/rotate`, status: 403 },
    {
      path: `/api/smtp-credentials/${KEY_ID}/rotate`,
      status: 200,
      check: (t, body) => {
        t.like(body, { name: 'laptop', scopes: ['imap', 'smtp'], isActive: true, apiKey: 'mansio_made' });
        t.not(body.id, KEY_ID);
      },
    },
    { path: `/api/smtp-credentials/${KEY_ID}/rotate`, status: 404 },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/smtp-credentials/${KEY_ID}/rotate` })),
  ],
  'DELETE /api/smtp-credentials/{keyId}': [
    { path: `/api/smtp-credentials/${BOBS_KEY_ID}`, status: 404 },
    { path: `/api/smtp-credentials/${NO_ID}`, status: 404 },
    { path: '/api/smtp-credentials/x', status: 404 },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/smtp-credentials/${SERVICE_KEY_ID}` })),
    { path: `/api/smtp-credentials/${SERVICE_KEY_ID.toUpperCase()}`, status: 204 },
    { path: `/api/smtp-credentials/${SERVICE_KEY_ID}`, status: 404 },
  ],
  'POST /api/smtp-credentials': [
    ...NOT_OWNER.map((one) => ({ ...one, json: { name: 'x', scopes: ['imap'] } })),
    { json: {}, status: 400, check: errorsOn('name', 'scopes') },
    { json: { name: 'x', scopes: [] }, status: 400, check: errorsOn('scopes') },
    { json: { name: 'x', scopes: ['imap', 'root'] }, status: 400, check: errorsOn('scopes') },
    { json: { name: 'x', scopes: ['IMAP'] }, status: 400, check: errorsOn('scopes') },
    { json: { name: 'x', scopes: ['internal', 'smtp'] }, status: 400, check: errorsOn('scopes') },
    { json: { name: 'x', scopes: 'imap' }, status: 400, check: errorsOn('scopes') },
    ...[...LONG_LINES, 'x'.repeat(101)].map((name) => ({
      json: { name, scopes: ['imap'] },
      status: 400,
      check: errorsOn('name'),
    })),
    {
      json: { name: 'é'.repeat(100), scopes: ['api:read', 'imap', 'imap'] },
      status: 201,
      check: (t, body) => t.like(body, { scopes: ['api:read', 'imap'], lastUsedAt: null, apiKey: 'mansio_made' }),
    },
    { json: { name: 'x', scopes: ['internal'] }, status: 201 },
  ],
  'POST /api/smtp-credentials/mobile': [
    ...NOT_OWNER.map((one) => ({ ...one, json: { name: 'x', platform: 'ios', deviceId: 'd' } })),
    { json: {}, status: 400, check: errorsOn('platform') },
    { json: { platform: 'ios' }, status: 400, check: errorsOn('name', 'deviceId') },
    { json: { name: 'x', platform: 'ios' }, status: 400, check: errorsOn('deviceId') },
    { json: { platform: 'ios', deviceId: 'd' }, status: 400, check: errorsOn('name') },
    { json: { deviceName: '', platform: 'ios' }, status: 400, check: errorsOn('deviceName') },
    { json: { name: 'x', platform: 'symbian', deviceId: 'd' }, status: 400, check: errorsOn('platform') },
    { json: { name: 'x', platform: 'ios', deviceId: '' }, status: 400, check: errorsOn('deviceId') },
    { json: { name: 'x', platform: 'ios', deviceId: 'd'.repeat(201) }, status: 400, check: errorsOn('deviceId') },
    {
      json: { name: 'Phone', platform: 'iOS', deviceId: 'd' },
      status: 201,
      check: (t, body) => t.deepEqual([body.name, body.scopes], ['Phone', ['app']]),
    },
    {
      json: { name: 'Phone, later', platform: 'ios', deviceId: 'd' },
      status: 201,
      check: (t, body) => t.deepEqual([body.name, body.scopes], ['Phone, later', ['app']]),
    },
    {
      json: { deviceName: 'Desk', platform: 'windows' },
      status: 201,
      check: (t, body) => t.deepEqual([body.name, body.scopes], ['Desk', ['app']]),
    },
    // The account has its maximum of keys.
    { json: { name: 'Tablet', platform: 'web', deviceId: 'e' }, status: 400, check: errorsOn('name') },
    { json: { name: 'Phone', platform: 'web', deviceId: 'd' }, status: 201 },
  ],
  'GET /api/smtp-credentials/mobileconfig': [{ status: 200, check: isProfile }, ...NOT_OWNER],
  'POST /api/smtp-credentials/mobileconfig': [
    ...NOT_OWNER.map((one) => ({ ...one, json: {} })),
    ...LONG_LINES.map((name) => ({ json: { name }, status: 400, check: errorsOn('name') })),
    { json: { deviceId: 'd'.repeat(201) }, status: 400, check: errorsOn('deviceId') },
    // The account has its maximum of keys; a new key of the same device replaces the old one.
    { json: {}, status: 400, check: errorsOn('name') },
    { json: { name: 'iPhone', deviceId: 'd' }, status: 201, check: isProfile },
  ],
  'GET /api/profile': [
    {
      status: 200,
      check: (t, body) => {
        t.like(body, { id: ALICE, email: 'alice@example.test', displayName: 'Alice' });
        t.is(body.lastLoginAt, '2026-01-02T03:04:05.006Z');
        t.deepEqual(body.additionalAddresses, [
          {
            ...{ id: ADDRESS_ID, address: 'sales@example.test', addedAt: '2026-01-02T03:04:05.006Z' },
            ...{ isVerified: true, isAlias: false, canSend: true },
          },
        ]);
      },
    },
    ...NOT_OWNER,
  ],
  'PUT /api/profile': [
    { json: { displayName: 'Alice 🎉', email: 'evil@example.test' }, status: 204 },
    { json: { displayName: 'x'.repeat(200) }, status: 204 },
    { json: {}, status: 400, check: errorsOn('displayName') },
    ...[...LONG_LINES, 'x'.repeat(201)].map((displayName) => ({
      json: { displayName },
      status: 400,
      check: errorsOn('displayName'),
    })),
    ...NOT_OWNER.map((one) => ({ ...one, json: { displayName: 'x' } })),
  ],
  'GET /api/events': [
    { as: ['api:read'], status: 200, isEndless: true },
    { path: '/api/events?types=NewEmail', status: 200, isEndless: true },
    { path: '/api/events?types=Mail', status: 400, check: errorsOn('types') },
    { path: '/api/events?after=x%20y', status: 400, check: errorsOn('after') },
    { as: ['api:write'], status: 403 },
  ],
  'GET /api/contacts': [
    {
      status: 200,
      check: (t, body) => t.deepEqual(body, [{ address: 'alice@example.test', displayName: 'Alice' }]),
    },
    { path: '/api/contacts?q=ALI', status: 200, check: (t, body) => t.is(body.length, 1) },
    { path: '/api/contacts?q=lice', status: 200, check: (t, body) => t.deepEqual(body, []) },
    { path: `/api/contacts?q=${'x'.repeat(200)}`, status: 200 },
    { path: `/api/contacts?q=${'x'.repeat(201)}`, status: 400, check: errorsOn('q') },
    { path: '/api/contacts?limit=5', status: 400, check: errorsOn('limit') },
    { as: ['api:read'], status: 200 },
    { as: ['api:write', 'smtp'], status: 403 },
  ],
  'GET /api/preferences': [
    {
      status: 200,
      check: (t, body) =>
        t.like(body, {
          userId: ALICE,
          theme: 'system',
          emailsPerPage: 20,
          digestTime: '09:00',
          ...{ undoSendSeconds: 0, signature: '', identities: [], pictureSenders: [] },
        }),
    },
    ...NOT_OWNER,
  ],
  'PUT /api/preferences': [
    { json: {}, status: 204 },
    { json: { theme: 'dark', unknown: 1, id: 'x', updatedAt: null }, status: 204 },
    {
      json: {
        ...{ theme: 'light', displayDensity: 'compact', emailsPerPage: 100, defaultSort: 'sender', showPreview: false },
        ...{ groupByDate: true, desktopNotifications: false, emailDigest: true },
        ...{ digestFrequency: 'weekly', digestTime: '23:59', undoSendSeconds: 60 },
      },
      status: 204,
    },
    { json: { signature: 'é'.repeat(5 * 1024) }, status: 204 },
    { json: { pictureSenders: Array.from({ length: 200 }, (_, i) => `news${i}@zoë.test`) }, status: 204 },
    { json: { identities: [{ address: 'a@b.test', displayName: 'Ann', signature: '<b>A</b>' }] }, status: 204 },
    { json: { signature: '', identities: [], pictureSenders: [] }, status: 204 },
    ...Object.entries({
      theme: ['blue', 'Dark', null, { toString: 1 }],
      displayDensity: ['wide'],
      emailsPerPage: [9, 101, 10.5, '20', null],
      defaultSort: ['size'],
      showPreview: ['true', 1],
      groupByDate: [null],
      desktopNotifications: [0],
      emailDigest: ['no'],
      digestFrequency: ['hourly'],
      digestTime: ['24:00', '9:00', '09:60', '09:00:00', ''],
      undoSendSeconds: [-1, 61, 1.5, '10', null],
      signature: ['é'.repeat(5 * 1024 + 1), 'a\0', '\ud800', 7, null],
      pictureSenders: ['a@b.test', null, ['a'], ['a b@c.test'], ['\ud800@b.test'], Array(201).fill('a@b.test')],
    }).flatMap(([name, values]) =>
      values.map((value) => ({ json: { [name]: value }, status: 400, check: errorsOn(name) })),
    ),
    ...NOT_OWNER.map((one) => ({ ...one, json: {} })),
  ],
  'POST /api/profile/sending/resume': [{ status: 403 }, ...NOT_OWNER],
  'GET /api/vacation': [
    { status: 200, check: (t, body) => t.like(body, { isEnabled: false, intervalDays: 7, textBody: null }) },
    { as: ['api:read'], status: 403 },
  ],
  'PUT /api/vacation': [
    { json: { isEnabled: true, textBody: 'Away', endsAt: '2027-01-06T00:00:00+01:00', intervalDays: 30 }, status: 204 },
    { json: { isEnabled: false }, status: 204 },
    { json: { isEnabled: true }, status: 400, fields: ['textBody', 'htmlBody'] },
    { json: { isEnabled: true, textBody: 'Away', intervalDays: 0 }, status: 400, fields: ['intervalDays'] },
    { json: { isEnabled: true, textBody: 'Away', intervalDays: 31 }, status: 400, fields: ['intervalDays'] },
    { json: { isEnabled: true, textBody: 'Away', startsAt: 'tomorrow' }, status: 400, fields: ['startsAt'] },
    { json: { isEnabled: true, textBody: 'Away', subject: 'a\nb' }, status: 400, fields: ['subject'] },
    {
      json: { isEnabled: true, textBody: 'A', startsAt: '2027-01-06T00:00:00Z', endsAt: '2027-01-05T00:00:00Z' },
      status: 400,
      fields: ['endsAt'],
    },
    { json: {}, status: 400, fields: ['isEnabled'] },
  ],
  'GET /api/forwarding': [
    { status: 200, check: (t, body) => t.deepEqual(body, { isEnabled: false, address: null, keepCopy: true }) },
    ...NOT_OWNER,
  ],
  'PUT /api/forwarding': [
    { json: { isEnabled: true, address: VERIFIED_ELSEWHERE.toUpperCase(), keepCopy: false }, status: 204 },
    { json: { isEnabled: false, address: null, keepCopy: true }, status: 204 },
    { json: { isEnabled: true, address: null, keepCopy: true }, status: 400, check: errorsOn('address') },
    { json: { isEnabled: false, address: 'x@other.test', keepCopy: true }, status: 400, check: errorsOn('address') },
    { json: { isEnabled: true, address: VERIFIED_ELSEWHERE }, status: 400, check: errorsOn('keepCopy') },
    ...NOT_OWNER.map((one) => ({ ...one, json: { isEnabled: false, address: null, keepCopy: true } })),
  ],
  'GET /api/senders': [
    { status: 200, check: (t, body) => t.deepEqual(body, { allowed: [], blocked: [] }) },
    ...NOT_OWNER,
  ],
  'PUT /api/senders': [
    { json: { allowed: [], blocked: [] }, status: 204 },
    { json: { allowed: ['Ann@Example.org', '@example.org'], blocked: ['spam.test', 'SPAM.test'] }, status: 204 },
    { json: { allowed: ['a@b.test'], blocked: ['A@b.test'] }, status: 400, check: errorsOn('blocked') },
    { json: { allowed: [], blocked: ['no address'] }, status: 400, check: errorsOn('blocked[0]') },
    { json: { allowed: ['x'], blocked: [7] }, status: 400, check: errorsOn('blocked[0]') },
    { json: { allowed: Array(501).fill('a.test'), blocked: [] }, status: 400, check: errorsOn('allowed') },
    {
      json: {
        allowed: Array.from({ length: 300 }, (_, i) => `${'x'.repeat(60)}@${'y'.repeat(60)}.d${i}`),
        blocked: [],
      },
      status: 400,
      check: errorsOn('blocked'),
    },
    { json: { allowed: [] }, status: 400, check: errorsOn('blocked') },
    ...NOT_OWNER.map((one) => ({ ...one, json: { allowed: [], blocked: [] } })),
  ],
};
