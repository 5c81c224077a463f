// How the public routes reply, to callers without a credential.
import type { Case } from './endpoint-case.js';
import { VAPID_KEY } from './gateway.js';

export const SERVICE: Readonly<Record<string, readonly Case[]>> = {
  'GET /api/discovery': [
    {
      status: 200,
      check: (t, body) =>
        t.like(body, {
          smtp: { enabled: true, port: 587 },
          imap: { enabled: false },
          features: { oidc: false, pushNotifications: false },
          version: '0.0.0',
          apiVersion: 'v1',
          oidcEnabled: false,
        }),
    },
  ],
  'GET /api/config': [
    { status: 200, check: (t, body) => t.deepEqual(body, { oidc: { authority: '', clientId: '', enabled: false } }) },
  ],
  ...Object.fromEntries(
    ['/config.json', '/config/config.json'].map((path): [string, readonly Case[]] => [
      `GET ${path}`,
      [
        {
          status: 200,
          check: (t, body) =>
            t.deepEqual(body, {
              oidcAuthority: '',
              oidcClientId: '',
              oidcRedirectUri: '',
              oidcScope: 'openid profile email',
            }),
        },
      ],
    ]),
  ),
  'GET /api/push-subscriptions/vapid-public-key': [
    { status: 200, check: (t, body) => t.deepEqual(body, { publicKey: VAPID_KEY }) },
  ],
  'GET /healthz': [{ status: 200, check: (t, body) => t.is(body.status, 'Healthy') }],
  'GET /api/openapi.json': [{ status: 200, check: (t, body) => t.is(body.openapi, '3.1.0') }],
  'GET /': [{ status: 303, check: (t, _body, { headers }) => t.is(headers.get('location'), 'api/docs') }],
  'GET /api/docs/': [{ status: 303, check: (t, _body, { headers }) => t.is(headers.get('location'), '../docs') }],
  'GET /api/docs': [
    { status: 200, check: (t, _body, { headers }) => t.is(headers.get('content-type'), 'text/html; charset=utf-8') },
  ],
  'GET /api/docs/{file}': [
    ...['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'start.js'].map((file) => ({
      path: `/api/docs/${file}`,
      status: 200,
    })),
    { path: '/api/docs/package.json', status: 404 },
    { path: '/api/docs/..%2Fpackage.json', status: 404 },
  ],
};
