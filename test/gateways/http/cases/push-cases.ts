// Says how the routes of push subscriptions and internal notifications reply.
import { ALICE, BOB } from '../fakes.js';
import { VAPID_KEY } from '../gateway.js';
import { errorsOn, NOT_OWNER } from './account-cases.js';
import { BOBS_ID, type Case, NO_ID, READ_ID } from './endpoint-case.js';

const PUSH = {
  endpoint: 'https://push.example.org/send/abc',
  p256dh: VAPID_KEY,
  auth: Buffer.alloc(16, 7).toString('base64url'),
};
/** It has the right length, but is no point of the curve. */
const NO_POINT = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
const PRIVATE_ENDPOINTS = [
  'https://127.0.0.1/x',
  'https://0x7f.1/x',
  'https://10.1.2.3/x',
  'https://169.254.169.254/latest',
  'https://192.168.1.1',
  'https://[::1]/x',
  'https://[::ffff:10.0.0.1]/x',
  'https://[fd00::1]/x',
  'https://[64:ff9b::a00:1]/x',
  'https://localhost/x',
  'https://localhost./x',
  'https://db.internal/x',
];

/** The cases of these routes, by `METHOD path`. */
export const PUSH_CASES: Readonly<Record<string, readonly Case[]>> = {
  'POST /api/push-subscriptions': [
    { json: PUSH, status: 201, check: (t, _body, response) => t.is(response.headers.get('content-length'), '0') },
    { json: { ...PUSH, p256dh: Buffer.from(VAPID_KEY, 'base64url').toString('base64') }, status: 201 },
    { json: {}, status: 400, check: errorsOn('endpoint', 'p256dh', 'auth') },
    ...[
      ...PRIVATE_ENDPOINTS,
      'http://push.example.org/x',
      'ftp://push.example.org',
      'https://u:p@push.example.org',
      'x',
    ].map((endpoint) => ({ json: { ...PUSH, endpoint }, status: 400, check: errorsOn('endpoint') })),
    { json: { ...PUSH, endpoint: `https://push.example.org/${'x'.repeat(2048)}` }, status: 400 },
    ...['', 'AAAA', NO_POINT, `${VAPID_KEY}A`, `\u00e9${VAPID_KEY}`].map((p256dh) => ({
      json: { ...PUSH, p256dh },
      status: 400,
      check: errorsOn('p256dh'),
    })),
    { json: { ...PUSH, auth: 'AAAA' }, status: 400, check: errorsOn('auth') },
    ...NOT_OWNER.map((one) => ({ ...one, json: PUSH })),
  ],
  'DELETE /api/push-subscriptions': [
    { status: 204 },
    { status: 204 },
    { json: { endpoint: PUSH.endpoint }, status: 204 },
    { json: {}, status: 204 },
    { json: { endpoint: 'x' }, status: 400, check: errorsOn('endpoint') },
    { json: { endpoint: 7 }, status: 400, check: errorsOn('endpoint') },
    ...NOT_OWNER,
  ],
  'POST /api/internal-notifications': [
    { json: { type: 'new_email', userId: ALICE, emailId: READ_ID }, status: 403 },
    { as: ['internal'], json: {}, status: 400, check: errorsOn('type', 'userId', 'emailId') },
    {
      as: ['internal'],
      json: { type: 'old_email', userId: ALICE, emailId: READ_ID },
      status: 400,
      check: errorsOn('type'),
    },
    { as: ['internal'], json: { type: 'new_email', userId: BOB, emailId: BOBS_ID }, status: 403 },
    { as: ['internal'], json: { type: 'new_email', userId: ALICE, emailId: BOBS_ID }, status: 404 },
    { as: ['internal'], json: { type: 'new_email', userId: ALICE, emailId: 'x' }, status: 404 },
    { as: ['internal'], json: { type: 'new_email', userId: ALICE.toUpperCase(), emailId: READ_ID }, status: 200 },
    { as: ['service'], json: { type: 'new_email', userId: BOB, emailId: BOBS_ID }, status: 200 },
    { as: ['service'], json: { type: 'new_email', userId: NO_ID, emailId: BOBS_ID }, status: 404 },
    { as: ['service'], json: { type: 'new_email', userId: 'x', emailId: BOBS_ID }, status: 404 },
  ],
};
