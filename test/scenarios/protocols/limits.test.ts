// Tests slow clients and floods of connections at every mail listener: slow connections are ended, connections beyond a limit are
// refused, and others are served.
import { setTimeout as delay } from 'node:timers/promises';
import { v1 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';
import { Conversation } from './conversation.js';
import { LineClient } from './line-client.js';
import { rows } from './rows.js';

const LOOPBACK = ['127.0.0.0/8'];
/** In ms. A busy machine finishes the handshakes of all these tests in this time. */
const SHORT_MS = 6000;
/** In ms. The time to log in when half of the connections are in use. */
const STRESS_MS = 300;
/** In ms, between two octets of a slow client, and between commands before a login: few enough to be within the limits. */
const PACE_MS = 50;
const BUSY_PACE_MS = 200;

for (const [name, row] of rows) {
  test(`${name}: who says nothing is ended`, async (t) => {
    const { port } = await row.listen(t, { limits: { idleMs: SHORT_MS } });
    const { client } = await Conversation.connect(row, port);
    t.regex((await client.rest()).at(-1)!, row.idle);
  });

  test(`${name}: a command that drips is ended`, async (t) => {
    const { port } = await row.listen(t, { limits: { idleMs: SHORT_MS } });
    const { client } = await Conversation.begin(row, port);
    const dripping = setInterval(() => client.write('N'), PACE_MS);
    t.regex((await client.rest()).at(-1)!, row.idle);
    clearInterval(dripping);
  });

  test(`${name}: a handshake that does not come, or drips, is ended`, async (t) => {
    const { port, connections } = await row.listen(t, { limits: { handshakeMs: SHORT_MS } });
    const attempt = async (octet: string) => {
      const client = await LineClient.connect(port);
      if (!row.implicitTls) {
        await client.line();
        if (row.hello !== undefined) client.write(`${row.hello}\r\n`);
        client.write(`${row.startTls}\r\n`);
        while (!row.goAhead.test((await client.line())!));
      }
      const dripping = setInterval(() => client.write(octet), PACE_MS);
      await client.rest();
      clearInterval(dripping);
    };
    await Promise.all(['', '\u0016', 'x'].map(attempt));
    while (connections() > 0) await delay(1);
    await Conversation.begin(row, port);
    t.pass();
  });

  if (row.login !== undefined) {
    const { noLogin } = row.login;
    test(`${name}: who does not log in is ended, however busy`, async (t) => {
      const { port } = await row.listen(t, { limits: { loginMs: SHORT_MS } });
      const { client } = await Conversation.begin(row, port);
      const asking = setInterval(() => client.write(`${row.noop}\r\n`), BUSY_PACE_MS);
      const lines = await client.rest();
      clearInterval(asking);
      t.regex(lines.at(-1)!, noLogin);
      t.true(lines.some((line) => row.done.test(line)));
    });

    test(`${name}: the time to log in is shorter from half of the listener's connections on`, async (t) => {
      const limits = { loginMs: 600_000, stressLoginMs: STRESS_MS, connections: 4, connectionsPerAddress: 4 };
      const { port } = await row.listen(t, { limits });
      const first = await Conversation.begin(row, port);
      await delay(2 * STRESS_MS);
      first.client.write(`${row.noop}\r\n`);
      while (!row.done.test((await first.client.line())!));
      // A handshake on a busy machine takes longer than this time, and ends with it.
      await Conversation.connect(row, port).catch(() => {});
      t.regex((await first.client.rest()).at(-1)!, noLogin);
    });
  }

  test(`${name}: a flood of connections has its share, and others have theirs`, async (t) => {
    const limits = { connections: 12, connectionsPerAddress: 5 };
    const { port, connections } = await row.listen(t, { limits, trusted: LOOPBACK });
    const knock = async (address: string) => {
      const { client } = await Conversation.connect(row, port, { opening: v1(address) });
      const greeting = await client.line();
      return { client, greeting };
    };
    const flood = (address: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => knock(address).catch(() => undefined)));
    const served = (all: Awaited<ReturnType<typeof flood>>) =>
      all.filter((one) => one?.greeting !== undefined && row.greeting.test(one.greeting));
    const refusals = (all: Awaited<ReturnType<typeof flood>>) =>
      all.filter((one) => !served([one]).length).map((one) => one?.greeting);

    const first = await flood('192.0.2.1', 30);
    t.is(served(first).length, 5);
    // With implicit TLS the refusal has no text.
    for (const refusal of refusals(first))
      t.true(row.implicitTls ? refusal === undefined : row.addressFull.test(refusal!));
    const second = await flood('192.0.2.2', 5);
    t.is(served(second).length, 5, 'another address has its own share');
    while (connections() > 10) await delay(1);
    const third = await flood('192.0.2.3', 5);
    t.is(served(third).length, 2, 'of what is left');
    for (const refusal of refusals(third)) t.true(row.implicitTls ? refusal === undefined : row.full.test(refusal!));
    for (const one of [...first, ...second, ...third]) one?.client.close();
    while (connections() > 0) await delay(1);
    t.is(served(await flood('192.0.2.1', 5)).length, 5, 'places are free again');
  });

  test(`${name}: a PROXY header is believed of trusted proxies alone, and whole`, async (t) => {
    const limits = { connectionsPerAddress: 1 };
    const trusting = await row.listen(t, { limits, trusted: LOOPBACK });
    await Conversation.begin(row, trusting.port, { opening: v1('192.0.2.1') });
    await Conversation.begin(row, trusting.port, { opening: v1('192.0.2.2') });
    await t.throwsAsync(Conversation.begin(row, trusting.port, { opening: v1('192.0.2.1') }));
    const broken = Conversation.begin(row, trusting.port, { opening: Buffer.from('PROXY TCP4 nonsense\r\n') });
    await t.throwsAsync(broken);
    const other = await row.listen(t, { limits });
    const untrusted = async () => {
      const { client } = await Conversation.begin(row, other.port, { opening: v1('192.0.2.1') });
      client.close();
    };
    if (row.implicitTls) await t.throwsAsync(untrusted);
    else {
      // The header is read as a command.
      await untrusted().catch(() => {});
      t.false(other.logged.some((line) => line['remoteAddress'] === '192.0.2.1'));
    }
  });
}
