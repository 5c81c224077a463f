// Tests the links that sessions make, over real sockets: who may make one, and what the reply says of it.
import { rawRequest } from '../../../../support/clients/raw-request.js';
import test from '../../../../support/test.js';
import { SESSION_ID } from '../../fake-account-api.js';
import { ALICE, BOB } from '../../fakes.js';
import { startGateway } from '../../gateway.js';

const POST = 'POST /api/sessions/links';
const EMPTY = { 'Content-Length': '0' };
const OWN = { ...EMPTY, Origin: 'http://localhost' };

test('a session makes a link and withdraws it, for its own page alone', async (t) => {
  const gateway = await startGateway(t);
  const Cookie = `mansio=${gateway.directory.session(ALICE, SESSION_ID)}`;
  const ask = (line: string, fields: Readonly<Record<string, string>>) =>
    rawRequest(gateway.port, line, { Cookie, ...fields });
  t.is((await ask(POST, EMPTY)).status, 403, 'without an origin');
  t.is((await ask(POST, { ...EMPTY, Origin: 'http://localhost:3000' })).status, 403);
  const made = await ask(POST, OWN);
  t.is(made.status, 201);
  t.is(made.headers.get('cache-control'), 'no-store');
  const { sessionId, ...link } = JSON.parse(made.body.toString());
  t.deepEqual(link, { token: 'T'.repeat(43), expiresAt: '2026-01-02T03:04:05.006Z', expiresInSeconds: 600 });
  const withdraw = `DELETE /api/sessions/links/${sessionId}`;
  const bobs = { ...OWN, Cookie: `mansio=${gateway.directory.session(BOB)}` };
  t.is((await ask(withdraw, bobs)).status, 404);
  t.is((await ask(withdraw, OWN)).status, 204);
  t.is((await ask(withdraw, OWN)).status, 404);
});

test('a key makes no link, and neither does a session that ends meanwhile', async (t) => {
  const gateway = await startGateway(t);
  const status = async (token: string) =>
    (await rawRequest(gateway.port, POST, { ...EMPTY, Authorization: `Bearer ${token}` })).status;
  t.is(await status(gateway.key), 403);
  t.is(await status(gateway.directory.session(ALICE, 'an ended session')), 401);
  t.is(await status(gateway.directory.session(ALICE, SESSION_ID)), 201);
});
