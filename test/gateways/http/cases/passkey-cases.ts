// Says how the routes about passkeys reply at an address, which can have none; those of localhost have tests of their own.

import { BOBS_PASSKEY_ID, PASSKEY_ID } from '../fake-account-api.js';
import { errorsOn, NOT_OWNER } from './account-cases.js';
import type { Case } from './endpoint-case.js';

const REGISTRATION = {
  ...{ id: 'AA', rawId: 'AA', type: 'public-key' },
  response: { clientDataJSON: 'e30', attestationObject: 'oA' },
};

export const PASSKEYS: Readonly<Record<string, readonly Case[]>> = {
  'GET /api/passkeys': [
    {
      status: 200,
      check: (t, body) =>
        t.deepEqual(body, [{ id: PASSKEY_ID, name: 'Phone', createdAt: '2026-01-02T03:04:05.006Z', lastUsedAt: null }]),
    },
    ...NOT_OWNER,
  ],
  'GET /api/passkeys/{id}': [
    { path: `/api/passkeys/${BOBS_PASSKEY_ID}`, status: 404 },
    { path: `/api/passkeys/${PASSKEY_ID.toUpperCase()}`, status: 200, check: (t, body) => t.is(body.name, 'Phone') },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/passkeys/${PASSKEY_ID}` })),
  ],
  'DELETE /api/passkeys/{id}': [
    { path: `/api/passkeys/${BOBS_PASSKEY_ID}`, status: 404 },
    ...NOT_OWNER.map((one) => ({ ...one, path: `/api/passkeys/${PASSKEY_ID}` })),
    { path: `/api/passkeys/${PASSKEY_ID}`, status: 204 },
    { path: `/api/passkeys/${PASSKEY_ID}`, status: 404 },
  ],
  'POST /api/passkeys/registration': [{ status: 400, check: errorsOn('host') }, ...NOT_OWNER],
  'POST /api/passkeys/registration/verify': [
    { json: {}, status: 400, check: errorsOn('id', 'rawId', 'type', 'response') },
    { json: REGISTRATION, status: 400, check: errorsOn('host') },
    ...NOT_OWNER.map((one) => ({ ...one, json: REGISTRATION })),
  ],
};
