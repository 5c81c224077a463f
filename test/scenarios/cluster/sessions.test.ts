// Tests a session over two nodes: made on one by a link of the operator, used on both, which tell of a further one, ended on one and closed
// at once on the other.
import { randomBytes } from 'node:crypto';
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { port } from '../../../dev/node-accounts.js';
import { issueLink, LINK_MS } from '../../../src/actors/account/sign-in-link.js';
import { postgresSessions } from '../../../src/store/postgres/accounts/sessions.js';
import { startHub } from '../../support/clients/hub-start.js';
import { rawRequest } from '../../support/clients/raw-request.js';
import { deferred } from '../../support/deferred.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { PATIENT_TTL_MS } from './support/roll.js';

testWith('nats-server')('a session of one node is used on another, and its end is obeyed there at once', async (t) => {
  t.timeout(600_000);
  const cluster = await startCluster(t, { nodes: 2, accounts: 1, leaseTtlMs: PATIENT_TTL_MS });
  const [account] = cluster.accounts;
  const [here, there] = cluster.nodes.map((node) => port(node.process, 'http')) as [number, number];
  const origin = (at: number) => ({ Host: `127.0.0.1:${at}`, Origin: `http://127.0.0.1:${at}` });
  const { token } = await issueLink(postgresSessions(cluster.sql), randomBytes, account!.id, LINK_MS);
  const signedIn = await rawRequest(here, `POST /link/${token}`, origin(here));
  t.is(signedIn.status, 303);
  t.is((await rawRequest(there, `POST /link/${token}`, origin(there))).status, 410, 'used on the other node');
  const Cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  const ask = (at: number, line: string) => rawRequest(at, line, { ...origin(at), Cookie });
  const listed = JSON.parse((await ask(there, 'GET /api/sessions')).body.toString());
  t.like(listed, [{ isCurrent: true }]);
  const keys = await ask(there, 'GET /api/smtp-credentials');
  t.false(keys.body.toString().includes(listed[0].id), 'a session is no key of the account');

  const hub = new HubConnectionBuilder()
    .withUrl(`http://127.0.0.1:${there}/hubs/email?sessions=true`, {
      transport: HttpTransportType.WebSockets,
      headers: { ...origin(there), Cookie },
    })
    .configureLogging(LogLevel.None)
    .build();
  const { promise: closed, resolve } = deferred();
  let why = '';
  hub.onclose((error) => {
    why = error?.message ?? '';
    resolve();
  });
  const { promise: told, resolve: tell } = deferred();
  hub.on('SessionsChanged', tell);
  await startHub(hub);
  t.teardown(() => hub.stop());
  // The session signs another device in on the other node; a further link ends with the session.
  const links = [];
  for (let i = 0; i < 2; i++) {
    const made = await ask(there, 'POST /api/sessions/links');
    t.is(made.status, 201);
    const link = JSON.parse(made.body.toString());
    if (i === 0) {
      const device = await rawRequest(here, `POST /link/${link.token}`, { ...origin(here), 'User-Agent': 'Phone' });
      t.is(device.status, 303);
      await told;
      const seen = JSON.parse((await ask(there, 'GET /api/sessions')).body.toString());
      t.like(
        seen.find(({ id }: { id: string }) => id === link.sessionId),
        { userAgent: 'Phone', isCurrent: false },
      );
    }
    links.push(link);
  }
  const ended = await ask(here, `DELETE /api/sessions/${listed[0].id}`);
  t.is(ended.status, 204);
  t.is((await ask(there, 'GET /api/emails')).status, 401);
  t.is((await ask(here, 'GET /api/emails')).status, 401);
  t.is((await rawRequest(there, `POST /link/${links[1].token}`, origin(there))).status, 410);
  await closed;
  t.regex(why, /revoked/);
});
