// Tests the limits of connections at the listeners of IMAP and POP3: those of an account, and those of several listeners together.
import { connectionLimiters } from '../../../src/net/tcp/connection-limits.js';
import { Conversation } from '../../scenarios/protocols/conversation.js';
import { ALICE, BOB } from '../../scenarios/protocols/rows.js';
import test from '../../support/test.js';
import { sessionRows } from './sessions.js';

for (const [name, row, login] of sessionRows) {
  test(`${name}: an account has so many connections; another account is not kept out`, async (t) => {
    const { port } = await row.listen(t, { limits: { connectionsPerAccount: 1 } });
    const begin = () => Conversation.begin(row, port);
    const [first, second, other] = [await begin(), await begin(), await begin()];
    t.regex(await first.logIn(login, ALICE, 'alice-key'), login.open);
    t.regex(await second.logIn(login, ALICE, 'alice-key'), login.tooManyConnections);
    t.regex(await other.logIn(login, BOB, 'bob-key'), login.open);
    first.client.write(`${row.quit}\r\n`);
    await first.client.rest();
    first.client.close();
    // The listener hears of the end of the connection a little later.
    let reply = '';
    while (!login.open.test(reply)) {
      reply = await (await begin()).logIn(login, ALICE, 'alice-key');
      if (!login.tooManyConnections.test(reply)) t.regex(reply, login.open);
    }
  });

  test(`${name}: an account and an address have one share of all listeners together`, async (t) => {
    const limits = { connections: 10, connectionsPerAddress: 3, connectionsPerAccount: 1 };
    const settings = { limits, limiters: connectionLimiters(limits) };
    const [first, second] = [await row.listen(t, settings), await row.listen(t, settings)];
    const session = await Conversation.begin(row, first.port);
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
    const other = await Conversation.begin(row, second.port);
    t.regex(await other.logIn(login, ALICE, 'alice-key'), login.tooManyConnections);
    await Conversation.begin(row, first.port);
    await t.throwsAsync(Conversation.begin(row, second.port));
    t.deepEqual([first.connections(), second.connections()], [2, 1]);
  });
}
