// Says how the routes reply about the additional addresses of an account.
import { ADDRESS_ID, BOBS_ADDRESS_ID, BUSY_ADDRESS_ID, PENDING_ADDRESS_ID } from '../fake-account-api.js';
import { errorsOn, NOT_OWNER } from './account-cases.js';
import type { Case } from './endpoint-case.js';

export const ADDRESSES: Readonly<Record<string, readonly Case[]>> = {
  'POST /api/profile/addresses': [
    {
      json: { address: ' Info@Example.TEST' },
      status: 201,
      check: (t, body) => t.like(body, { address: 'info@example.test', isVerified: false }),
    },
    ...[
      '',
      'x',
      'a b@example.test',
      'a@',
      'info@example.test',
      'alice@example.test',
      'new+tag@example.test',
      '"new+tag"@example.test',
      7,
      'a\r\n@example.test',
    ].map((address) => ({ json: { address }, status: 400, check: errorsOn('address') })),
    { json: { address: 'bobs@example.test' }, status: 201, check: (t, body) => t.false(body.isVerified) },
    { json: { address: 'c@example.test' }, status: 201 },
    { json: { address: 'd@example.test' }, status: 400, check: errorsOn('address') },
    { json: { address: 'a@unset.test' }, status: 409, check: (t, body) => t.regex(body.detail, /MANSIO_PUBLIC_URL/) },
    {
      json: { address: 'a@busy.test' },
      status: 429,
      check: (t, body, { headers }) => {
        t.regex(body.detail, /one per address and hour/);
        t.is(headers.get('retry-after'), '2');
      },
    },
    ...NOT_OWNER.map((one) => ({ ...one, json: { address: 'e@example.test' } })),
  ],
  'POST /api/addresses/{addressId}/verification': [
    { path: `/api/addresses/${PENDING_ADDRESS_ID}/verification`, status: 202 },
    { path: `/api/addresses/${BUSY_ADDRESS_ID}/verification`, status: 429 },
    { path: `/api/addresses/${ADDRESS_ID}/verification`, status: 409 },
    { path: `/api/addresses/${BOBS_ADDRESS_ID}/verification`, status: 404 },
    { path: '/api/addresses/x/verification', status: 404 },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/addresses/${PENDING_ADDRESS_ID}/verification` })),
  ],
  'DELETE /api/profile/addresses/{addressId}': [
    { path: `/api/profile/addresses/${BOBS_ADDRESS_ID}`, status: 404 },
    { path: '/api/profile/addresses/x', status: 404 },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/profile/addresses/${ADDRESS_ID}` })),
    { path: `/api/profile/addresses/${ADDRESS_ID}`, status: 204 },
    { path: `/api/profile/addresses/${ADDRESS_ID}`, status: 404 },
  ],
  'POST /api/profile/addresses/{addressId}/send-verification': [
    { path: `/api/profile/addresses/${ADDRESS_ID}/send-verification`, status: 501 },
    { path: '/api/profile/addresses/x/send-verification', status: 501 },
    ...NOT_OWNER,
  ],
  'POST /api/profile/addresses/{addressId}/verify': [
    { path: `/api/profile/addresses/${ADDRESS_ID}/verify`, json: { token: 'x' }, status: 501 },
    { path: `/api/profile/addresses/${BOBS_ADDRESS_ID}/verify`, status: 501 },
    ...NOT_OWNER,
  ],
};
