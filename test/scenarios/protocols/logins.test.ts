// Tests brute force and revocation at every mail listener with logins: guesses cost time and end connections, the right credential
// is still accepted, and a session ends with its credential.

import { setTimeout as delay } from 'node:timers/promises';
import test from '../../support/test.js';
import { Conversation } from './conversation.js';
import { ALICE, BOB, rows } from './rows.js';

const refusals = (logged: readonly Record<string, unknown>[]) =>
  logged.filter(({ msg }) => msg === 'authentication refused').length;

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
    const { port, revoke } = await row.listen(t, {});
    const [session, other] = [await Conversation.begin(row, port), await Conversation.begin(row, port)];
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
    t.regex(await other.logIn(login, BOB, 'bob-key'), login.open);
    revoke('alice-key');
    t.regex((await session.client.rest()).at(-1)!, login.revoked);
    t.regex(await other.say(row.noop), row.done);
    t.regex(await (await Conversation.begin(row, port)).logIn(login, ALICE, 'alice-key'), login.wrong);
  });
}
