// Tests the port of ACME: proofs, redirects for names that are ours, and 421 for others.
import fc from 'fast-check';
import { acmeHandler } from '../../../src/gateways/http/acme-handler.js';
import type { HttpRequest } from '../../../src/gateways/http/exchange.js';
import test from '../../support/test.js';

const requestOf = (path: string, host: string | undefined, method = 'GET', query = '') =>
  ({ method, path, query, headers: new Map(host === undefined ? [] : [['host', host]]) }) as unknown as HttpRequest;

const handlerFor = (httpsPort = 443) =>
  acmeHandler({
    authorizationOf: async (token) => {
      if (token === 'broken') throw new Error('the store is away');
      return token === 'open' ? 'open.thumbprint' : undefined;
    },
    isKnown: async (host) => host === 'mail.test',
    httpsPort,
  });

const locationOf = (reply: Awaited<ReturnType<ReturnType<typeof handlerFor>>>) =>
  reply.headers.find(([name]) => name === 'Location')?.[1];

test('an open token has its proof under any name; others have none', async (t) => {
  const handler = handlerFor();
  const proof = await handler(requestOf('/.well-known/acme-challenge/open', '192.0.2.1'));
  t.is(proof.status, 200);
  t.is(Buffer.from(proof.body as Uint8Array).toString(), 'open.thumbprint');
  for (const token of ['closed', '', '../open', 'open/', 'a'.repeat(129)])
    t.is((await handler(requestOf(`/.well-known/acme-challenge/${token}`, 'mail.test'))).status, 404, token);
  t.is((await handler(requestOf('/.well-known/acme-challenge/open', 'mail.test', 'POST'))).status, 404);
  t.is((await handler(requestOf('/.well-known/acme-challenge/broken', 'mail.test'))).status, 503);
});

test('names that are ours go to HTTPS, others are 421', async (t) => {
  const handler = handlerFor();
  const known = await handler(requestOf('/api/emails', 'Mail.Test:80', 'GET', 'page=2'));
  t.deepEqual([known.status, locationOf(known)], [301, 'https://mail.test/api/emails?page=2']);
  t.is((await handler(requestOf('/', 'mail.test', 'POST'))).status, 308);
  const other = handlerFor(8443);
  t.is(locationOf(await other(requestOf('/', 'mail.test'))), 'https://mail.test:8443/');
  for (const host of ['elsewhere.test', '', undefined, 'mail.test@evil.test', 'mail.test/', '[::1]'])
    t.is((await handler(requestOf('/', host))).status, 421, String(host));
});

test('whatever the path is, the redirect stays at the host, on one line', async (t) => {
  const handler = handlerFor();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (path, query) => {
      const location = locationOf(await handler(requestOf(`/${path}`, 'mail.test', 'GET', query)));
      if (`/${path}`.startsWith('/.well-known/acme-challenge/')) return;
      t.regex(location!, /^https:\/\/mail\.test\/[!-~]*$/);
      t.is(new URL(location!).host, 'mail.test');
    }),
  );
});
