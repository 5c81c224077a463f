// Says how the public routes reply to callers without a credential.

import { BOBS_LINK, TAKEN_TOKEN, VERIFICATION_TOKEN } from '../fake-account-api.js';
import { ALICE } from '../fakes.js';
import { IMAGE_URLS, MAX_MESSAGE_SIZE, VAPID_KEY } from '../gateway.js';
import type { Case } from './endpoint-case.js';

const AUTODISCOVER = '/autodiscover/autodiscover.json';
const isXml: NonNullable<Case['check']> = (t, _body, { headers }) =>
  t.is(headers.get('content-type'), 'text/xml; charset=utf-8');

export const SERVICE: Readonly<Record<string, readonly Case[]>> = {
  // An address can have no passkeys; those of localhost have tests of their own.
  'POST /api/oidc/authorization': [{ status: 404 }],
  'POST /api/oidc/sessions': [
    { json: {}, status: 400, fields: ['code', 'state'] },
    { json: { code: 'C', state: 'S' }, status: 404 },
  ],
  'POST /api/passkeys/login': [{ status: 400, fields: ['host'] }],
  'POST /api/passkeys/login/verify': [
    { json: {}, status: 400, fields: ['id', 'rawId', 'type', 'response'] },
    {
      json: {
        ...{ id: 'AA', rawId: 'AA', type: 'public-key' },
        response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' },
      },
      status: 400,
      fields: ['host'],
    },
  ],
  'GET /api/image-proxy': [
    { path: IMAGE_URLS.signed(ALICE, 'https://img.example.org/a.png'), status: 200 },
    { status: 403 },
    { path: '/api/image-proxy?url=https://img.example.org/a.png', status: 403 },
    { path: '/api/image-proxy?url=a&url=b', status: 400, fields: ['url'] },
  ],
  'GET /api/discovery': [
    {
      status: 200,
      check: (t, body) =>
        t.like(body, {
          smtp: { enabled: true, port: 587 },
          imap: { enabled: true, port: 143 },
          pop3: { enabled: false },
          features: { oidc: false, pushNotifications: true },
          version: '0.0.0',
          apiVersion: 'v1',
          oidcEnabled: false,
          maxMessageSize: MAX_MESSAGE_SIZE,
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
  ...Object.fromEntries(
    ['/.well-known/autoconfig/mail/config-v1.1.xml', '/mail/config-v1.1.xml'].map((path): [string, readonly Case[]] => [
      `GET ${path}`,
      [
        { path: `${path}?emailaddress=anna@example.test`, status: 200, check: isXml },
        { path: `${path}?emailaddress=anna@elsewhere.test`, status: 404 },
        { path: `${path}?emailaddress=a@b&emailaddress=c@d`, status: 400, fields: ['emailaddress'] },
        // The asked host is not a hosted domain.
        { path, status: 404 },
      ],
    ]),
  ),
  'GET /link/page.css': [{ status: 200 }],
  'GET /link/{token}': [
    { path: `/link/${BOBS_LINK}`, status: 200 },
    { path: '/link/unknown', status: 410, isPage: true },
  ],
  'POST /link/{token}': [
    { path: `/link/${BOBS_LINK}`, headers: { origin: 'https://evil.example' }, status: 403, isPage: true },
    { path: `/link/${BOBS_LINK}`, json: {}, status: 415 },
    {
      path: `/link/${BOBS_LINK}`,
      status: 303,
      check: (t, _body, { headers }) => t.is(headers.get('location'), '/'),
    },
    { path: `/link/${BOBS_LINK}`, status: 410, isPage: true },
  ],
  'GET /verify': [
    { path: `/verify?token=${VERIFICATION_TOKEN}`, status: 200 },
    { path: '/verify?token=unknown', status: 410, isPage: true },
    { status: 400, fields: ['token'] },
  ],
  'POST /verify': [
    { path: `/verify?token=${VERIFICATION_TOKEN}`, json: {}, status: 415 },
    { path: `/verify?token=${VERIFICATION_TOKEN}`, status: 200 },
    { path: `/verify?token=${VERIFICATION_TOKEN}`, status: 410, isPage: true },
    { path: `/verify?token=${TAKEN_TOKEN}`, status: 409, isPage: true },
  ],
  'GET /.well-known/mta-sts.txt': [{ status: 404 }],
  'GET /autodiscover/autodiscover.xml': [{ status: 200, check: isXml }],
  'POST /autodiscover/autodiscover.xml': [
    { xml: '<x/>', status: 200, check: isXml },
    { xml: 'x'.repeat(16 * 1024 + 1), status: 413 },
    { json: {}, status: 415 },
  ],
  'GET /autodiscover/autodiscover.json': [
    { status: 404 },
    { path: `${AUTODISCOVER}?Email=anna@example.test&Protocol=EWS`, status: 400, fields: ['Protocol'] },
    { path: `${AUTODISCOVER}?Email=anna@elsewhere.test&Protocol=AutodiscoverV1`, status: 404 },
    { path: `${AUTODISCOVER}?Email=anna@example.test&Protocol=AutodiscoverV1`, status: 200 },
  ],
  'GET /autodiscover/autodiscover.json/v1.0/{email}': [
    { path: `${AUTODISCOVER}/v1.0/anna@example.test?Protocol=ActiveSync`, status: 400, fields: ['Protocol'] },
    { path: `${AUTODISCOVER}/v1.0/anna@example.test`, status: 200 },
    { path: `${AUTODISCOVER}/v1.0/anna@elsewhere.test?Protocol=AutodiscoverV1`, status: 404 },
    { path: `${AUTODISCOVER}/v1.0/anna%40example.test?Protocol=AutodiscoverV1`, status: 200 },
  ],
  'GET /api/push-subscriptions/vapid-public-key': [
    { status: 200, check: (t, body) => t.deepEqual(body, { publicKey: VAPID_KEY }) },
  ],
  'GET /healthz': [{ status: 200, check: (t, body) => t.is(body.status, 'Healthy') }],
  'GET /api/openapi.json': [{ status: 200, check: (t, body) => t.is(body.openapi, '3.1.0') }],
  'GET /api/docs/events': [{ status: 200, check: (t, body) => t.is(body.asyncapi, '3.0.0') }],
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
