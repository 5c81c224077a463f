// Tests logins at every mail listener that has them: each mechanism in each form, what is refused and how, brute force (guesses cost time
// and end connections, the right credential is still accepted), and that a session ends with its credential.

import { setTimeout as delay } from 'node:timers/promises';
import { StoreFault } from '../../../src/store/errors.js';
import { ALICE as ACCOUNT } from '../../gateways/mail-node.js';
import test from '../../support/test.js';
import { Conversation } from './conversation.js';
import type { LoginOutcome, LoginRow, ProtocolRow } from './protocol-row.js';
import { ALICE, BOB, rows } from './rows.js';

const refusals = (logged: readonly Record<string, unknown>[]) =>
  logged.filter(({ msg }) => msg === 'authentication refused').length;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const plain = (name: string, credential: string) => base64(`\0${name}\0${credential}`);
const END = '\u0001\u0001';
const bearer = (name: string, token: string) =>
  base64(`n,a=${name},\u0001host=x\u0001port=143\u0001auth=Bearer ${token}${END}`);
const xoauth2 = (name: string, token: string) => base64(`user=${name}\u0001auth=Bearer ${token}${END}`);

interface Exchange {
  readonly what: string;
  /** The mechanism with its initial response, then the client's responses. */
  readonly lines: readonly string[];
  readonly challenges?: readonly string[];
  readonly outcome: LoginOutcome;
}

const OPENING: readonly Omit<Exchange, 'outcome'>[] = [
  { what: 'PLAIN', lines: [`PLAIN ${plain(ALICE, 'alice-key')}`] },
  { what: 'PLAIN after a challenge', lines: ['plain', plain(ALICE, 'alice-key')], challenges: [''] },
  { what: 'PLAIN with two names', lines: [`PLAIN ${base64(`Alice@Example.TEST\0${ALICE}\0alice-key`)}`] },
  { what: 'PLAIN with the name in the first place', lines: [`PLAIN ${base64(`${ALICE}\0\0alice-key`)}`] },
  {
    what: 'LOGIN',
    lines: ['LOGIN', base64('Alice@Example.TEST'), base64('alice-key')],
    challenges: ['Username:', 'Password:'],
  },
  {
    what: 'LOGIN with the name at once',
    lines: [`LOGIN ${base64(ALICE)}`, base64('alice-key')],
    challenges: ['Password:'],
  },
  { what: 'OAUTHBEARER', lines: [`OAUTHBEARER ${bearer(ALICE, 'alice-key')}`] },
  { what: 'OAUTHBEARER after a challenge', lines: ['OAUTHBEARER', bearer(ALICE, 'alice-key')], challenges: [''] },
  { what: 'OAUTHBEARER without a name', lines: [`OAUTHBEARER ${base64(`n,,\u0001auth=Bearer alice-key${END}`)}`] },
  { what: 'XOAUTH2', lines: [`XOAUTH2 ${xoauth2(ALICE, 'alice-key')}`] },
  { what: 'XOAUTH2 after a challenge', lines: ['XOAUTH2', xoauth2(ALICE, 'alice-key')], challenges: [''] },
];

const INVALID = ['{"status":"invalid_token"}'];
const INVALID_XOAUTH2 = ['{"status":"401","schemes":"bearer"}'];

function refusedBy({ otherKey, cancelsAfterFailure }: LoginRow): readonly Exchange[] {
  const afterFailure = cancelsAfterFailure ? 'cancelled' : 'wrong';
  return [
    { what: 'a wrong key', lines: [`PLAIN ${plain(ALICE, 'nonsense')}`], outcome: 'wrong' },
    { what: "another one's name", lines: [`PLAIN ${plain(BOB, 'alice-key')}`], outcome: 'wrong' },
    {
      what: "another one's name next to one's own",
      lines: [`PLAIN ${base64(`${BOB}\0${ALICE}\0alice-key`)}`],
      outcome: 'wrong',
    },
    { what: 'a name that is no address', lines: [`PLAIN ${plain('alice', 'alice-key')}`], outcome: 'wrong' },
    { what: 'no password', lines: [`PLAIN ${plain(ALICE, '')}`], outcome: 'wrong' },
    { what: 'a key without the scope', lines: [`PLAIN ${plain(ALICE, otherKey)}`], outcome: 'scopeMissing' },
    {
      what: 'a wrong key with LOGIN',
      lines: ['LOGIN', base64(ALICE), base64('nonsense')],
      challenges: ['Username:', 'Password:'],
      outcome: 'wrong',
    },
    {
      what: 'a wrong token',
      lines: [`OAUTHBEARER ${bearer(ALICE, 'nonsense')}`, 'AQ=='],
      challenges: INVALID,
      outcome: 'wrong',
    },
    {
      what: 'no token',
      lines: [`OAUTHBEARER ${base64(`n,,\u0001auth=${END}`)}`, 'AQ=='],
      challenges: INVALID,
      outcome: 'wrong',
    },
    {
      what: 'a token without the scope',
      lines: [`OAUTHBEARER ${bearer(ALICE, otherKey)}`, 'AQ=='],
      challenges: ['{"status":"insufficient_scope"}'],
      outcome: 'scopeMissing',
    },
    {
      what: 'a wrong token with XOAUTH2',
      lines: [`XOAUTH2 ${xoauth2(ALICE, 'nonsense')}`, ''],
      challenges: INVALID_XOAUTH2,
      outcome: 'wrong',
    },
    { what: 'cancelled', lines: ['PLAIN', '*'], challenges: [''], outcome: 'cancelled' },
    {
      what: 'cancelled at the password',
      lines: ['LOGIN', base64(ALICE), '*'],
      challenges: ['Username:', 'Password:'],
      outcome: 'cancelled',
    },
    {
      what: 'cancelled after the report of the failure',
      lines: [`XOAUTH2 ${xoauth2(ALICE, 'nonsense')}`, '*'],
      challenges: INVALID_XOAUTH2,
      outcome: afterFailure,
    },
    { what: 'no base64', lines: ['PLAIN not-base64'], outcome: 'malformed' },
    { what: 'no base64 in a response', lines: ['PLAIN', 'AGFs='], challenges: [''], outcome: 'malformed' },
    { what: 'a command as the response', lines: ['PLAIN', 'QUIT!'], challenges: [''], outcome: 'malformed' },
    { what: 'base64 of something else', lines: [`PLAIN ${base64('x')}`], outcome: 'malformed' },
    { what: 'an empty response where one is needed', lines: ['PLAIN ='], outcome: 'malformed' },
    {
      what: 'no UTF-8',
      lines: [`PLAIN ${Buffer.from('\0\xff\0x', 'latin1').toString('base64')}`],
      outcome: 'malformed',
    },
    {
      what: 'a malformed token message',
      lines: [`OAUTHBEARER ${base64(`p=tls,,\u0001auth=Bearer alice-key${END}`)}`],
      outcome: 'malformed',
    },
    { what: 'a mechanism that is not offered', lines: ['CRAM-MD5'], outcome: 'notOffered' },
  ];
}

/** `begin`: the mechanism, and the initial response if there is one. */
function saslCommand({ sasl, asString = (text) => text }: Pick<LoginRow, 'sasl' | 'asString'>, begin: string): string {
  return `${sasl}${begin.split(' ').map(asString).join(' ')}`;
}

/** Returns the decoded challenges, and the last line of the reply. */
async function exchange(
  { client }: Conversation,
  row: ProtocolRow,
  login: LoginRow,
  [begin, ...responses]: readonly string[],
): Promise<readonly [challenges: readonly string[], reply: string]> {
  const challenges: string[] = [];
  client.write(`${saslCommand(login, begin!)}\r\n`);
  for (;;) {
    const line = (await client.line()) ?? 'the connection has ended';
    const challenge = /^(?:(?:\+|334) (.*)|"(.*)")$/.exec(line);
    if (challenge === null) {
      if (row.isLast(line)) return [challenges, line];
      continue;
    }
    challenges.push(Buffer.from(challenge[1] ?? challenge[2]!, 'base64').toString());
    const response = responses[challenges.length - 1] ?? '*';
    client.write(`${login.asString?.(response) ?? response}\r\n`);
  }
}

/** Whether a session is open: a command that needs one has an effect. */
const isOpen = async (session: Conversation, { probe, untouched }: ProtocolRow) =>
  !untouched.test(await session.say(probe));

const NO_BLOCKS = { guard: { failuresPerNetwork: 1000, failuresPerName: 1000 } };

for (const [name, row] of rows) {
  const { login } = row;
  // TLS makes no difference to the mechanisms.
  if (login === undefined || row.implicitTls) continue;

  test(`${name}: each mechanism opens a session, in each form`, async (t) => {
    const { port, logged } = await row.listen(t, {});
    for (const { what, lines, challenges = [] } of OPENING) {
      const session = await Conversation.begin(row, port);
      const [shown, reply] = await exchange(session, row, login, lines);
      t.deepEqual(shown, challenges, what);
      t.regex(reply, login.open, what);
      t.true(await isOpen(session, row), what);
      session.client.write(`${row.quit}\r\n`);
      await session.client.rest();
    }
    const authenticated = logged.filter(({ msg }) => msg === 'authenticated');
    t.is(authenticated.length, OPENING.length);
    t.true(authenticated.every(({ tls }) => tls === false));
  });

  for (const { what, lines, challenges = [], outcome } of refusedBy(login)) {
    test(`${name}: ${what} opens no session, and a later login is judged on its own`, async (t) => {
      const { port, logged } = await row.listen(t, NO_BLOCKS);
      const session = await Conversation.begin(row, port);
      const [shown, reply] = await exchange(session, row, login, lines);
      t.deepEqual(shown, challenges);
      t.regex(reply, login[outcome]);
      t.false(await isOpen(session, row));
      t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
      t.false(JSON.stringify(logged).includes('nonsense'), 'no credential is in the log');
    });
  }

  test(`${name}: without TLS no credential is taken, and none is looked at`, async (t) => {
    const { port, accounts } = await row.listen(t, { allowPlaintextAuth: false });
    accounts.fail(new Error('no credential is looked at'));
    const session = await Conversation.begin(row, port);
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.needsTls);
    t.regex(await session.say(saslCommand(login, 'PLAIN')), login.needsTls);
    t.false(await isOpen(session, row));
    accounts.fail(undefined);
    await session.say(row.startTls);
    await session.secure();
    await session.hello();
    t.notRegex(await session.say(row.startTls), row.goAhead, 'the connection has TLS');
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
  });

  test(`${name}: a credential that cannot be checked counts against nobody`, async (t) => {
    const { port, accounts } = await row.listen(t, { limits: { authFailures: 1 } });
    const session = await Conversation.begin(row, port);
    accounts.fail(new StoreFault('store-unavailable', 'down', { temporary: true }));
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.unavailable);
    const [challenges, reply] = await exchange(session, row, login, [`OAUTHBEARER ${bearer(ALICE, 'alice-key')}`]);
    t.deepEqual(challenges, []);
    t.regex(reply, login.unavailable);
    accounts.fail(undefined);
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
  });

  test(`${name}: a key in the place of the name is not logged`, async (t) => {
    const { port, logged } = await row.listen(t, {});
    const session = await Conversation.begin(row, port);
    t.regex(await session.logIn(login, 'alice-key', 'alice-key'), login.wrong);
    t.regex(await session.logIn(login, ALICE, 'wrong'), login.wrong);
    const names = logged.filter(({ msg }) => msg === 'authentication refused').map((line) => line['names']);
    t.deepEqual(names, [[], [ALICE]]);
  });

  test(`${name}: an account that is deleted ends its session, and no other`, async (t) => {
    const { port, accounts } = await row.listen(t, {});
    const [session, other] = [await Conversation.begin(row, port), await Conversation.begin(row, port)];
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
    t.regex(await other.logIn(login, BOB, 'bob-key'), login.open);
    accounts.deleteAlice();
    t.regex((await session.client.rest()).at(-1)!, login.revoked);
    t.regex(await other.say(row.noop), row.done);
  });

  test(`${name}: a key that ended and of which nobody was told opens nothing after 30 s`, async (t) => {
    let now = 1;
    const { port, accounts } = await row.listen(t, { limits: { recheckMs: 0 }, now: () => now });
    const session = await Conversation.begin(row, port);
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
    accounts.forget('alice-key');
    t.regex(await session.say(row.noop), row.done);
    now += 31_000;
    session.client.write(`${row.probe}\r\n`);
    const last = await session.client.rest();
    t.true(
      last.some((line) => login.revoked.test(line)),
      last.join('\n'),
    );
  });

  if (!login.endsWithToken) continue;
  test(`${name}: a token opens a session until the token expires`, async (t) => {
    let expiresAt = 0;
    const tokens = {
      async verify() {
        // The time counts from the login: a busy machine may need longer to begin.
        if (expiresAt === 0) expiresAt = Date.now() + 3_000;
        return { issuer: 'i', subject: ACCOUNT, email: ALICE, emailVerified: true, name: undefined, expiresAt };
      },
      userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
    };
    const { port } = await row.listen(t, { tokens });
    const session = await Conversation.begin(row, port);
    const [, reply] = await exchange(session, row, login, [`XOAUTH2 ${xoauth2(ALICE, 'eyJh.b.c')}`]);
    t.regex(reply, login.open);
    t.regex((await session.client.rest()).at(-1)!, login.revoked);
    t.true(Date.now() >= expiresAt);
  });
}

for (const [name, row] of rows) {
  const { login } = row;
  if (login === undefined) continue;

  test(`${name}: a connection has a few guesses, an address a few more, and right credentials are let in`, async (t) => {
    const settings = { guard: { failuresPerNetwork: 4 }, limits: { authFailures: 3 } };
    const { port, logged } = await row.listen(t, settings);
    const first = await Conversation.begin(row, port);
    for (let i = 0; i < 2; i++) t.regex(await first.logIn(login, ALICE, `guess-${i}`), login.wrong);
    first.client.write(`${login.command(ALICE, 'guess-2')}\r\n`);
    const last = await first.client.rest();
    t.true(
      last.some((line) => login.tooManyFailures.test(line)),
      last.join('\n'),
    );
    const second = await Conversation.begin(row, port);
    t.regex(await second.logIn(login, ALICE, 'guess-3'), login.wrong);
    t.regex(await second.logIn(login, ALICE, 'guess-4'), login.limited);
    t.regex(await second.logIn(login, ALICE, 'alice-key'), login.open);
    t.regex(await (await Conversation.begin(row, port)).logIn(login, BOB, 'bob-key'), login.open);
    t.is(refusals(logged), 5);
    t.is(logged.filter(({ msg }) => msg === 'authenticated').length, 2);
    t.false(JSON.stringify(logged).includes('guess-'), 'no credential is in the log');
  });

  test(`${name}: guesses wait for their replies, few at a time, and right credentials do not`, async (t) => {
    const { port, logged } = await row.listen(t, { guard: { delayMs: 600_000, delaysPerHolder: 2 } });
    const waiting = [await Conversation.begin(row, port), await Conversation.begin(row, port)];
    for (const { client } of waiting) client.write(`${login.command(ALICE, 'guess')}\r\n`);
    while (refusals(logged) < 2) await delay(1);
    t.regex(await (await Conversation.begin(row, port)).logIn(login, ALICE, 'guess'), login.limited);
    t.regex(await (await Conversation.begin(row, port)).logIn(login, ALICE, 'alice-key'), login.open);
    t.deepEqual(
      waiting.map(({ client }) => client.pending),
      ['', ''],
    );
    for (const { client } of waiting) client.close();
  });

  test(`${name}: a revoked key ends its session, and no other`, async (t) => {
    const { port, accounts } = await row.listen(t, {});
    const [session, other] = [await Conversation.begin(row, port), await Conversation.begin(row, port)];
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
    t.regex(await other.logIn(login, BOB, 'bob-key'), login.open);
    accounts.revoke('alice-key');
    t.regex((await session.client.rest()).at(-1)!, login.revoked);
    t.regex(await other.say(row.noop), row.done);
    t.regex(await (await Conversation.begin(row, port)).logIn(login, ALICE, 'alice-key'), login.wrong);
  });
}
