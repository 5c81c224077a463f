// Tests logins: every mechanism in every form, what is refused and how, STARTTLS, and how a login ends.

import { StoreFault } from '../../../../src/store/errors.js';
import test from '../../../support/test.js';
import { deferred } from '../../http/gateway.js';
import { type ImapClient, Literal } from '../client.js';
import { ALICE, ALICE_EMAIL, BOB_EMAIL, type ImapGateway, startImap } from '../gateway.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (name: string, credential: string) => base64(`\0${name}\0${credential}`);
const bearer = (name: string, token: string) =>
  base64(`n,a=${name},\u0001host=x\u0001port=143\u0001auth=Bearer ${token}\u0001\u0001`);
const xoauth2 = (name: string, token: string) => base64(`user=${name}\u0001auth=Bearer ${token}\u0001\u0001`);
const EXPIRED = '* BYE [EXPIRED] The credential is no longer valid';

/** Sends a command and a line after each challenge; returns the decoded challenges and the shortened tagged response. */
async function say(client: ImapClient, command: string, ...lines: readonly string[]): Promise<string[]> {
  const replies: string[] = [];
  client.write(`x ${command}\r\n`);
  for (;;) {
    const response = await client.next();
    if (response.startsWith('x ')) return [...replies, /^x (\w+( \[\w+\]?)?)/.exec(response)![1]!];
    if (!response.startsWith('+ ')) continue;
    replies.push(`+ ${Buffer.from(response.slice(2), 'base64').toString()}`);
    client.write(`${lines[replies.length - 1] ?? '*'}\r\n`);
  }
}

const OPEN = 'OK [CAPABILITY';

for (const [form, lines, expected] of [
  ['LOGIN', [`LOGIN ${ALICE_EMAIL} alice-key`], [OPEN]],
  ['LOGIN with quoted strings', ['login "Alice@Example.TEST" "alice-key"'], [OPEN]],
  ['LOGIN with a key of scope app', [`LOGIN ${ALICE_EMAIL} app-key`], [OPEN]],
  ['PLAIN', [`AUTHENTICATE PLAIN ${plain(ALICE_EMAIL, 'alice-key')}`], [OPEN]],
  ['PLAIN after a challenge', ['authenticate plain', plain(ALICE_EMAIL, 'alice-key')], ['+ ', OPEN]],
  [
    'AUTHENTICATE LOGIN',
    ['AUTHENTICATE LOGIN', base64(ALICE_EMAIL), base64('alice-key')],
    ['+ Username:', '+ Password:', OPEN],
  ],
  ['OAUTHBEARER', [`AUTHENTICATE OAUTHBEARER ${bearer(ALICE_EMAIL, 'alice-key')}`], [OPEN]],
  ['OAUTHBEARER after a challenge', ['AUTHENTICATE OAUTHBEARER', bearer(ALICE_EMAIL, 'alice-key')], ['+ ', OPEN]],
  ['XOAUTH2', [`AUTHENTICATE XOAUTH2 ${xoauth2(ALICE_EMAIL, 'alice-key')}`], [OPEN]],
] as const) {
  test(`${form} lets in`, async (t) => {
    const gateway = await startImap(t);
    const client = await gateway.connect();
    const [command, ...more] = lines;
    t.deepEqual(await say(client, command, ...more), [...expected]);
    t.regex((await client.command('SELECT INBOX')).tagged, /^OK /);
    t.like(
      gateway.logged.find(({ msg }) => msg === 'authenticated'),
      { accountId: ALICE, tls: false },
    );
  });
}

for (const [what, lines, expected] of [
  ['a wrong key', [`LOGIN ${ALICE_EMAIL} nonsense`], ['NO [AUTHENTICATIONFAILED]']],
  ["another one's name", [`LOGIN ${BOB_EMAIL} alice-key`], ['NO [AUTHENTICATIONFAILED]']],
  ['a name that is no address', ['LOGIN alice alice-key'], ['NO [AUTHENTICATIONFAILED]']],
  ['no password', [`LOGIN ${ALICE_EMAIL} ""`], ['NO [AUTHENTICATIONFAILED]']],
  ['a key without the scope', [`LOGIN ${ALICE_EMAIL} smtp-key`], ['NO [AUTHORIZATIONFAILED]']],
  ['a wrong key with PLAIN', [`AUTHENTICATE PLAIN ${plain(ALICE_EMAIL, 'x')}`], ['NO [AUTHENTICATIONFAILED]']],
  [
    'a wrong token',
    [`AUTHENTICATE OAUTHBEARER ${bearer(ALICE_EMAIL, 'x')}`, 'AQ=='],
    ['+ {"status":"invalid_token"}', 'NO [AUTHENTICATIONFAILED]'],
  ],
  [
    'a token without the scope',
    [`AUTHENTICATE OAUTHBEARER ${bearer(ALICE_EMAIL, 'smtp-key')}`, '*'],
    ['+ {"status":"insufficient_scope"}', 'NO [AUTHORIZATIONFAILED]'],
  ],
  [
    'a wrong token with XOAUTH2',
    [`AUTHENTICATE XOAUTH2 ${xoauth2(ALICE_EMAIL, 'x')}`, ''],
    ['+ {"status":"401","schemes":"bearer"}', 'NO [AUTHENTICATIONFAILED]'],
  ],
  ['a mechanism that is not offered', ['AUTHENTICATE CRAM-MD5'], ['NO [CANNOT]']],
  ['what is no base64', ['AUTHENTICATE PLAIN {}'], ['BAD']],
  ['what is no base64 after a challenge', ['AUTHENTICATE PLAIN', '!'], ['+ ', 'BAD']],
  ['an empty response', ['AUTHENTICATE PLAIN ='], ['BAD']],
  ['cancelling', ['AUTHENTICATE PLAIN', '*'], ['+ ', 'BAD']],
] as const) {
  test(`${what} does not let in`, async (t) => {
    const gateway = await startImap(t);
    const client = await gateway.connect();
    const [command, ...more] = lines;
    t.deepEqual(await say(client, command, ...more), [...expected]);
    t.regex((await client.command('SELECT INBOX')).tagged, /^BAD /);
    // A later login is judged on its own.
    t.deepEqual(await say(client, `LOGIN ${ALICE_EMAIL} alice-key`), [OPEN]);
    t.false(JSON.stringify(gateway.logged).includes('nonsense'), 'no credential is in the log');
  });
}

test('credentials come as literals too, with characters of every kind', async (t) => {
  const gateway = await startImap(t);
  gateway.directory.keys.set('schlüssel "\\', { ...gateway.directory.keys.get('alice-key')!, keyId: 'odd' });
  const client = await gateway.connect();
  t.regex((await client.command('LOGIN ', new Literal(ALICE_EMAIL), ' ', new Literal('schlüssel "\\'))).tagged, /^OK /);
});

test('without TLS no credential is taken, and none is looked at', async (t) => {
  const gateway = await startImap(t, { allowPlaintextAuth: false });
  const client = await gateway.connect();
  t.deepEqual(await say(client, `LOGIN ${ALICE_EMAIL} alice-key`), ['NO [PRIVACYREQUIRED]']);
  t.deepEqual(await say(client, 'AUTHENTICATE PLAIN'), ['NO [PRIVACYREQUIRED]']);
  await client.startTls();
  t.regex((await client.command('STARTTLS')).tagged, /^BAD /);
  t.deepEqual(await say(client, `LOGIN ${ALICE_EMAIL} alice-key`), [OPEN]);
});

test('TLS from the first octet', async (t) => {
  const gateway = await startImap(t, { allowPlaintextAuth: false, implicitTls: true });
  const client = await gateway.open();
  t.false((await client.command('CAPABILITY')).untagged[0]!.includes('STARTTLS'));
});

test('what was pipelined behind STARTTLS is never carried out', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.connect();
  client.write(`a STARTTLS\r\nb LOGIN ${ALICE_EMAIL} alice-key\r\nc SELECT INBOX\r\n`);
  t.regex(await client.next(), /^a OK /);
  await client.secure();
  t.regex((await client.command('SELECT INBOX')).tagged, /^BAD Log in first/);
  t.is(gateway.logged.filter(({ msg }) => msg === 'authenticated').length, 0);
});

test('each failed login waits longer, and the last one ends the connection', async (t) => {
  const outcomes: string[] = [];
  const logins = { attempted: (protocol: string, outcome: string) => void outcomes.push(`${protocol} ${outcome}`) };
  const gateway = await startImap(t, { limits: { authFailures: 3 }, logins });
  const client = await gateway.connect();
  const wrong = async () => (await client.command(`LOGIN ${ALICE_EMAIL} wrong`)).tagged;
  t.regex(await wrong(), /^NO \[AUTH/);
  t.regex(await wrong(), /^NO \[AUTH/);
  const tag = client.send(`LOGIN ${ALICE_EMAIL} wrong`);
  t.deepEqual(await client.rest(), [
    '* BYE [LIMIT] Too many failed logins',
    `${tag} NO [AUTHENTICATIONFAILED] Credentials invalid`,
  ]);
  await gateway.open();
  t.deepEqual(outcomes, ['imap wrong', 'imap wrong', 'imap wrong', 'imap open']);
});

test("a right credential is never refused because of other people's wrong ones", async (t) => {
  const gateway = await startImap(t, { guard: { failuresPerNetwork: 2 } });
  const guesser = await gateway.connect();
  for (const code of ['AUTHENTICATIONFAILED', 'AUTHENTICATIONFAILED', 'LIMIT', 'LIMIT']) {
    t.deepEqual(await say(guesser, `LOGIN ${ALICE_EMAIL} wrong`), [`NO [${code}]`]);
  }
  t.deepEqual(await say(await gateway.connect(), `LOGIN ${ALICE_EMAIL} alice-key`), [OPEN]);
});

test('credentials that cannot be checked are nobody to blame for', async (t) => {
  const gateway = await startImap(t);
  const client = await gateway.connect();
  gateway.directory.fault = new StoreFault('store-unavailable', 'down', { temporary: true });
  t.deepEqual(await say(client, `LOGIN ${ALICE_EMAIL} alice-key`), ['NO [UNAVAILABLE]']);
  gateway.directory.fault = undefined;
  t.deepEqual(await say(client, `LOGIN ${ALICE_EMAIL} alice-key`), [OPEN]);
});

const endings: readonly [string, (gateway: ImapGateway) => void][] = [
  ['a revoked key', ({ directory }) => directory.revoke('alice-key')],
  ['a deleted account', ({ directory }) => directory.deletedAccounts$.next(ALICE)],
];
for (const [what, end] of endings) {
  test(`${what} ends its sessions, and no others`, async (t) => {
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
    end(gateway);
    t.deepEqual(await waiting.rest(), [EXPIRED]);
    t.deepEqual(await idle.rest(), [EXPIRED]);
    gate.resolve();
    t.regex((await busy.answer(tag)).tagged, /^OK /);
    t.deepEqual(await busy.rest(), [EXPIRED]);
    t.is((await other.command('NOOP')).tagged, 'OK NOOP completed');
    t.is((await bare.command('NOOP')).tagged, 'OK NOOP completed');
  });
}

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

test('a key that was revoked unheard opens nothing after 30 s', async (t) => {
  let now = 1;
  const gateway = await startImap(t, { limits: { recheckMs: 0 }, now: () => now });
  const client = await gateway.open();
  t.is((await client.command('NOOP')).tagged, 'OK NOOP completed');
  gateway.directory.keys.delete('alice-key');
  t.is((await client.command('NOOP')).tagged, 'OK NOOP completed');
  now += 31_000;
  const tag = client.send('NOOP');
  t.deepEqual(await client.rest(), [EXPIRED, `${tag} NO [EXPIRED] The credential is no longer valid`]);
});

test('a token opens a session until the token expires', async (t) => {
  let expiresAt = 0;
  const token = 'eyJh.b.c';
  const tokens = {
    async verify() {
      // A busy machine may need long until it sends the token.
      if (expiresAt === 0) expiresAt = Date.now() + 3_000;
      return { issuer: 'i', subject: ALICE, email: ALICE_EMAIL, emailVerified: true, name: undefined, expiresAt };
    },
    userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
  };
  const gateway = await startImap(t, { tokens });
  const client = await gateway.connect();
  t.deepEqual(await say(client, `AUTHENTICATE XOAUTH2 ${xoauth2(ALICE_EMAIL, token)}`), [OPEN]);
  client.send('IDLE');
  t.deepEqual((await client.rest()).slice(1), [EXPIRED]);
  t.true(Date.now() >= expiresAt);
});
