// Tests logins of IMAP: the forms of LOGIN, and how a login ends. What all protocols have in common is in test/scenarios/protocols.

import { deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { Literal } from '../client.js';
import { ALICE_EMAIL, startImap } from '../gateway.js';

const EXPIRED = '* BYE [EXPIRED] The credential is no longer valid';

for (const [form, command, expected] of [
  ['atoms', `LOGIN ${ALICE_EMAIL} alice-key`, /^OK \[CAPABILITY /],
  ['quoted strings', 'login "Alice@Example.TEST" "alice-key"', /^OK \[CAPABILITY /],
  ['a key of scope app', `LOGIN ${ALICE_EMAIL} app-key`, /^OK \[CAPABILITY /],
  ['an empty string', `LOGIN ${ALICE_EMAIL} ""`, /^NO \[AUTHENTICATIONFAILED\]/],
] as const) {
  test(`LOGIN with ${form}`, async (t) => {
    const client = await (await startImap(t)).connect();
    t.regex((await client.command(command)).tagged, expected);
  });
}

test('credentials come as literals too, with characters of every kind', async (t) => {
  const gateway = await startImap(t);
  gateway.directory.keys.set('schlüssel "\\', { ...gateway.directory.keys.get('alice-key')!, keyId: 'odd' });
  const client = await gateway.connect();
  t.regex((await client.command('LOGIN ', new Literal(ALICE_EMAIL), ' ', new Literal('schlüssel "\\'))).tagged, /^OK /);
});

test('TLS from the first octet', async (t) => {
  const gateway = await startImap(t, { allowPlaintextAuth: false, implicitTls: true });
  const client = await gateway.open();
  t.false((await client.command('CAPABILITY')).untagged[0]!.includes('STARTTLS'));
});

test('a revoked key ends its sessions, those in IDLE or in a command too, and no others', async (t) => {
  const gateway = await startImap(t);
  const [waiting, idle, busy, other, bare] = [
    await gateway.open(),
    await gateway.open(),
    await gateway.open(),
    await gateway.open('bob-key'),
    await gateway.connect(),
  ];
  idle.send('IDLE');
  await idle.next();
  const [gate, asked] = [deferred(), deferred()];
  gateway.mailboxes.hook('folderStatus', async (_, proceed) => {
    asked.resolve();
    await gate.promise;
    return proceed();
  });
  const tag = busy.send('STATUS INBOX (MESSAGES)');
  busy.send('NOOP');
  await asked.promise;
  gateway.directory.revoke('alice-key');
  t.deepEqual(await waiting.rest(), [EXPIRED]);
  t.deepEqual(await idle.rest(), [EXPIRED]);
  gate.resolve();
  t.regex((await busy.answer(tag)).tagged, /^OK /);
  t.deepEqual(await busy.rest(), [EXPIRED]);
  t.is((await other.command('NOOP')).tagged, 'OK NOOP completed');
  t.is((await bare.command('NOOP')).tagged, 'OK NOOP completed');
});

test('an APPEND under way ends with the key, and nothing is stored', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.open();
  client.write('a APPEND INBOX {1000}\r\n');
  t.regex(await client.next(), /^\+ /);
  client.write('half of it');
  gateway.directory.revoke('alice-key');
  t.deepEqual(await client.rest(), [EXPIRED]);
  const other = await gateway.open('bob-key');
  t.true((await other.command('STATUS INBOX (MESSAGES)')).untagged[0]!.includes('MESSAGES 0'));
});
