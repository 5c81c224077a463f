// Says how the routes of webhooks reply.
import { cursorOf } from '../../../../src/gateways/events/cursor.js';
import { eventIdOf } from '../../../../src/gateways/events/event-id.js';
import { BOBS_WEBHOOK_ID, DELIVERY_ID, WEBHOOK_ID } from '../fake-account-api.js';
import { ALICE, BOB } from '../fakes.js';
import { type Case, NO_ID } from './endpoint-case.js';

const URL = 'https://hooks.example.com/mail?key=1';
const PATH = '/api/webhooks';
const NOT_OWNER: readonly Case[] = [
  { as: ['api:read', 'api:write', 'smtp', 'imap', 'pop3'], status: 403 },
  { as: ['internal'], status: 403 },
];
const UNFIT_URLS = [
  ...['', 'x', 'http://hooks.example.com/', 'https://a:b@hooks.example.com/', 'https://127.0.0.1/', 'https://[::1]/'],
  ...['https://localhost/', 'https://2130706433/', 'https://db.internal/', `https://a.example/${'x'.repeat(2048)}`],
];
const position = { seq: 12, at: 7, within: { n: 0, k: 1 } };

/** Cases for Bob's webhook, an unknown one and an invalid id. */
const notFound = (suffix: string, json?: unknown): readonly Case[] =>
  [BOBS_WEBHOOK_ID, NO_ID, 'x'].map((id) => ({
    path: `${PATH}/${id}${suffix}`,
    status: 404,
    ...(json !== undefined && { json }),
  }));

const unfit = (path: string): readonly Case[] => [
  ...UNFIT_URLS.map((url): Case => ({ path, json: { url }, status: 400, fields: ['url'] })),
  { path, json: {}, status: 400, fields: ['url'] },
  { path, json: { url: URL, eventTypes: ['NewEmail', 'Newemail'] }, status: 400, fields: ['eventTypes[1]'] },
  { path, json: { url: URL, eventTypes: 'NewEmail' }, status: 400, fields: ['eventTypes'] },
  { path, json: { url: URL, eventTypes: Array(1000).fill('NewEmail') }, status: 400, fields: ['eventTypes'] },
  { path, json: { url: URL, isEnabled: 'yes' }, status: 400, fields: ['isEnabled'] },
];

const replay = (after: unknown, status: 202 | 400): Case => ({
  path: `${PATH}/${WEBHOOK_ID}/replay`,
  json: { after },
  status,
  ...(status === 400 && { fields: ['after'] }),
});

export const WEBHOOKS: Readonly<Record<string, readonly Case[]>> = {
  'GET /api/webhooks': [
    {
      status: 200,
      check: (t, body) => {
        t.is(body.length, 1);
        t.like(body[0], { id: WEBHOOK_ID, eventTypes: ['NewEmail'], failures: 2, disabledReason: null });
        t.is(body[0].nextAttemptAt, '2026-01-02T03:04:05.006Z');
        t.false('secret' in body[0]);
      },
    },
    ...NOT_OWNER,
  ],
  'GET /api/webhooks/{id}': [
    { path: `${PATH}/${WEBHOOK_ID}`, status: 200, check: (t, body) => t.false('secret' in body) },
    ...notFound(''),
    ...NOT_OWNER,
  ],
  'PUT /api/webhooks/{id}': [
    ...unfit(`${PATH}/${WEBHOOK_ID}`),
    { path: `${PATH}/${WEBHOOK_ID}`, json: { url: URL, eventTypes: ['EmailPlaced'], isEnabled: false }, status: 204 },
    ...notFound('', { url: URL }),
    ...NOT_OWNER,
  ],
  'GET /api/webhooks/{id}/deliveries': [
    {
      path: `${PATH}/${WEBHOOK_ID}/deliveries?pageSize=200`,
      status: 200,
      check: (t, body) => {
        t.like(body, { totalCount: 1, page: 1, pageSize: 100 });
        t.like(body.items[0], { id: DELIVERY_ID, eventId: eventIdOf(position, ALICE), responseStatus: 500 });
      },
    },
    { path: `${PATH}/${WEBHOOK_ID}/deliveries?page=0`, status: 400, fields: ['page'] },
    ...notFound('/deliveries'),
    ...NOT_OWNER,
  ],
  'POST /api/webhooks/{id}/replay': [
    ...[0, 100, '7', DELIVERY_ID, cursorOf(position, ALICE), eventIdOf(position, ALICE)].map((it) => replay(it, 202)),
    replay(cursorOf({ seq: 3, at: 7 }, ALICE), 202),
    ...[101, '101', -1, 1.5, null, {}, '', 'x', NO_ID, cursorOf(position, BOB), '9'.repeat(40)].map((it) =>
      replay(it, 400),
    ),
    ...notFound('/replay', { after: 1 }),
    ...NOT_OWNER,
  ],
  'POST /api/webhooks/{id}/rotate-secret': [
    { path: `${PATH}/${WEBHOOK_ID}/rotate-secret`, status: 200, check: (t, body) => t.is(body.secret, 'whsec_bmV3') },
    ...notFound('/rotate-secret'),
    ...NOT_OWNER,
  ],
  'POST /api/webhooks/{id}/test': [
    {
      path: `${PATH}/${WEBHOOK_ID}/test`,
      status: 200,
      check: (t, body) =>
        t.deepEqual(body, {
          isDelivered: false,
          responseStatus: 404,
          durationMs: 3,
          error: 'The receiver answered 404.',
        }),
    },
    ...notFound('/test'),
    ...NOT_OWNER,
  ],
  'DELETE /api/webhooks/{id}': [
    { path: `${PATH}/${WEBHOOK_ID}`, status: 204 },
    { path: `${PATH}/${WEBHOOK_ID}`, status: 404 },
    ...notFound(''),
    ...NOT_OWNER,
  ],
  'POST /api/webhooks': [
    ...unfit(PATH),
    {
      json: { url: URL },
      status: 201,
      check: (t, body) => {
        t.like(body, { url: URL, eventTypes: [], isEnabled: true, secret: 'whsec_c2VjcmV0' });
      },
    },
    {
      json: { url: 'HTTPS://Hooks.Example.com', eventTypes: ['NewEmail', 'NewEmail'], isEnabled: false },
      status: 201,
      check: (t, body) =>
        t.like(body, { url: 'https://hooks.example.com/', eventTypes: ['NewEmail'], isEnabled: false }),
    },
    ...[1, 2].map((): Case => ({ json: { url: URL }, status: 201 })),
    { json: { url: URL }, status: 400, fields: ['url'] },
    ...NOT_OWNER,
  ],
};
