// Tests a whole node: every mail listener has a row in the table, all of them share one login guard, and a key that is revoked
// over REST ends its sessions at each.

import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import test from '../../support/test.js';
import { Conversation } from './conversation.js';
import { rows } from './rows.js';

const KEY_SCOPES = ['smtp', 'imap', 'pop3'];

let node: TestNode;
let sql: Awaited<ReturnType<typeof storeOf>>;

test.before(async () => {
  node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_ALLOW_PLAINTEXT_AUTH: 'true' });
  sql = await storeOf(node);
});

test.after.always(async (t) => {
  await sql?.end();
  t.is((await node?.stop())?.code, 0);
});

const loginRows = rows.flatMap(([name, row]) => (row.login === undefined ? [] : [[name, row, row.login] as const]));

test('each mail listener of the ready line has a row, and each row a listener', (t) => {
  const names = Object.keys(node.ready.listeners).filter((name) => name !== 'http' && name !== 'metrics');
  t.deepEqual(names.toSorted(), rows.map(([name]) => name).toSorted());
});

test('a revoked key ends its sessions in every protocol', async (t) => {
  await Promise.all(
    loginRows.map(async ([name, row, login]) => {
      // An account has at most one session of POP3.
      const account = await createAccount(sql, `revoked.${name}@example.test`);
      const api = new MailboxClient(node, account.key);
      const issued = await api.request('POST', '/api/smtp-credentials', { name: 'phone', scopes: KEY_SCOPES });
      t.is(issued.status, 201);
      const { id, apiKey } = (await issued.json()) as { readonly id: string; readonly apiKey: string };
      const session = await Conversation.begin(row, port(node, name));
      t.regex(await session.logIn(login, account.email, apiKey), login.open, name);
      t.is((await api.request('DELETE', `/api/smtp-credentials/${id}`)).status, 204);
      t.regex((await session.client.rest()).at(-1)!, login.revoked, name);
    }),
  );
});

test('guesses at one protocol are failures at all, and the right credential is let in at all', async (t) => {
  const [[first, row, login]] = loginRows as [(typeof loginRows)[number]];
  const guess = async (_: unknown, i: number) => {
    const session = await Conversation.begin(row, port(node, first));
    await session.logIn(login, `guessed.${i}@example.test`, 'guess');
    session.client.close();
  };
  await Promise.all(Array.from({ length: 21 }, guess));
  await Promise.all(
    loginRows.map(async ([name, other, otherLogin]) => {
      const account = await createAccount(sql, `guessed.${name}@example.test`, ['app', 'smtp']);
      const session = await Conversation.begin(other, port(node, name));
      const logIn = (email: string, key: string) => session.logIn(otherLogin, email, key);
      t.regex(await logIn('unseen@example.test', 'guess'), otherLogin.limited, name);
      t.regex(await logIn(account.email, account.key), otherLogin.open, name);
    }),
  );
});
