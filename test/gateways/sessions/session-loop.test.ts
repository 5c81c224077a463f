// Tests the loop of sessions of IMAP and POP3: a client that does not read waits alone, and a drain ends sessions between two commands.
import { Conversation } from '../../scenarios/protocols/conversation.js';
import { ALICE, BOB } from '../../scenarios/protocols/rows.js';
import test from '../../support/test.js';
import { sessionRows } from './sessions.js';

/** Their replies have some megabytes, more than may be buffered for a client. */
const PIPELINED = 20_000;
/** Commands with long replies, and the line that each reply has once. */
const WORDY = [
  ['imap', 'x CAPABILITY', /^x OK CAPABILITY/],
  ['pop3', 'CAPA', /^\+OK Capabilities/],
] as const;

for (const [protocol, command, reply] of WORDY) {
  test(`${protocol}: a client that sends commands and reads nothing is not read from, and loses nothing`, async (t) => {
    const [, row, login] = sessionRows.find(([name]) => name === protocol)!;
    const { port } = await row.listen(t, {});
    const [session, other] = [await Conversation.begin(row, port), await Conversation.begin(row, port)];
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
    t.regex(await other.logIn(login, BOB, 'bob-key'), login.open);
    const { client } = session;
    client.socket.pause();
    client.write(`${`${command}\r\n`.repeat(PIPELINED)}${row.quit}\r\n`);
    for (let i = 0; i < 100; i++) t.regex(await other.say(row.noop), row.done);
    client.socket.resume();
    const lines = await client.rest();
    t.is(lines.filter((line) => reply.test(line)).length, PIPELINED);
  });
}

for (const [name, row, login] of sessionRows) {
  test(`${name}: a listener that drains ends sessions between two commands`, async (t) => {
    const { port, beginDrain } = await row.listen(t, {});
    const [session, bare] = [await Conversation.begin(row, port), await Conversation.begin(row, port)];
    t.regex(await session.logIn(login, ALICE, 'alice-key'), login.open);
    beginDrain();
    for (const { client } of [session, bare]) t.regex((await client.rest()).at(-1)!, row.stopping);
  });
}
