// Tests each limit of the MX listener with a small value: what the peer is told, and that the connection ends.
import type { ExecutionContext } from 'ava';
import type { SmtpLimits } from '../../../src/gateways/smtp/limits.js';
import { RateCredit } from '../../../src/net/tcp/rate-credit.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { type Harness, listen } from './listener.js';

const limited = (t: ExecutionContext, limits: Partial<SmtpLimits>): Promise<Harness> =>
  listen(t, { limits: { greetDelayMs: 0, ...limits } });

async function rest(client: SmtpClient): Promise<string[]> {
  return (await client.rest()).map((r) => `${r.code} ${r.text.split(' ')[0]}`);
}

test('recipients: 452 4.5.3 for what is over, which is no error', async (t) => {
  const { address, stored } = await limited(t, { recipients: 5, errors: 4 });
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<>');
  const answers = [];
  for (let i = 0; i < 10; i++) answers.push((await client.command(`RCPT TO:<u${i}@example.test>`)).text.split(' ')[0]);
  t.deepEqual(answers, [...new Array<string>(5).fill('2.1.5'), ...new Array<string>(5).fill('4.5.3')]);
  t.is((await client.command('RCPT TO:<u0@example.test>')).code, 250);
  await client.command('DATA');
  client.write('x: y\r\n\r\n.\r\n');
  t.is((await client.reply()).code, 250);
  t.is(stored[0]!.deliveries.length, 5);
});

test('errors: 421 4.7.0 with the last, counted from the last accepted message', async (t) => {
  const { address } = await limited(t, { errors: 3 });
  const client = await SmtpClient.greeted(address);
  await client.command('FOO');
  await client.command('MAIL FROM:bad');
  t.is((await client.send('', ['alice@example.test'], 'x: y\r\n')).code, 250);
  client.write('FOO\r\nBAR\r\nRCPT TO:<>\r\nNOOP\r\nNOOP\r\n');
  t.deepEqual(await rest(client), ['500 5.5.2', '500 5.5.2', '501 5.1.3', '421 4.7.0']);
});

test('junk commands count as errors after a while', async (t) => {
  const { address } = await limited(t, { errors: 2, junkCommands: 3 });
  const client = await SmtpClient.greeted(address);
  client.write('NOOP\r\nRSET\r\nNOOP\r\nRSET\r\nNOOP\r\n');
  t.deepEqual(await rest(client), ['250 2.0.0', '250 2.0.0', '250 2.0.0', '421 4.7.0']);
});

test('idle between commands, and a command line that drips', async (t) => {
  // An ended connection waits this long for its peer: with a shorter time a reset may overtake the reply.
  const { address } = await limited(t, { idleMs: 1000 });
  const idle = await SmtpClient.connect(address);
  t.is((await idle.reply()).code, 220);
  t.deepEqual(await rest(idle), ['421 4.4.2']);
  const drip = await SmtpClient.connect(address);
  await drip.reply();
  const timer = setInterval(() => drip.write('N'), 20);
  t.teardown(() => clearInterval(timer));
  t.deepEqual(await rest(drip), ['421 4.4.2']);
});

test('a drip-feeder of DATA is cut off, a message that comes slowly enough is not kept', async (t) => {
  const { address, stored, spool, listener } = await limited(t, { minRate: 500, minRateGraceMs: 100 });
  const client = await SmtpClient.greeted(address);
  await client.envelope('', 'alice@example.test');
  const timer = setInterval(() => client.write('x'), 10);
  t.deepEqual(await rest(client), ['421 4.4.2']);
  clearInterval(timer);
  client.destroy();
  await listener.stop(60_000);
  t.is(stored.length, 0);
  t.is(spool.memory.used, 0);
});

test('octets that came early buy no long silence', async (t) => {
  const { address, spool, listener } = await limited(t, { minRate: 500, minRateGraceMs: 100, idleMs: 1500 });
  const client = await SmtpClient.connect(address);
  await client.reply();
  // The commands come together: a busy machine must not be too slow for the time between them.
  const envelope = 'HELO c.test\r\nMAIL FROM:<>\r\nRCPT TO:<alice@example.test>\r\nDATA\r\n';
  // The octets of the message are worth a quarter of an hour at 500 octets per second.
  client.write(`${envelope}${'X-Filler: y\r\n'.repeat(35_000)}`);
  const timer = setInterval(() => client.write('x'), 20);
  const codes = (await client.rest()).map(({ code }) => code);
  t.deepEqual(codes, [250, 250, 250, 354, 421]);
  clearInterval(timer);
  await listener.stop(60_000);
  t.is(spool.memory.used, 0);
});

test('what a message earns by its octets is capped, and waiting for this side costs nothing', (t) => {
  const credit = new RateCredit(500, 60_000, 0);
  t.is(credit.left(0, 300_000, 1000, false), 59_000);
  t.is(credit.left(1000, 300_000, 2000, false), 60_000);
  t.is(credit.left(500_000, 300_000, 3000, false), 300_000);
  t.is(credit.left(500_000, 300_000, 60_000, true), 300_000);
  t.is(credit.left(500_001, 300_000, 359_000, false), 1002);
  t.is(credit.left(500_001, 300_000, 361_000, false), -998);
  // A cap that is lowered under stress holds at once.
  const stressed = new RateCredit(500, 60_000, 0);
  t.is(stressed.left(0, 10_000, 0, false), 10_000);
});

test('a message that is far too large is not read to its end', async (t) => {
  const { address, stored, spool } = await listen(t, { maxMessageSize: 4_000_000 });
  const client = await SmtpClient.greeted(address);
  await client.envelope('', 'alice@example.test');
  client.write('x\r\n'.repeat(1_800_000));
  t.deepEqual(await rest(client), ['552 5.3.4']);
  t.is(stored.length, 0);
  t.is(spool.memory.used, 0);
});

test('with few free slots who is idle goes sooner, and who is not stays', async (t) => {
  const { address } = await limited(t, { stressConnections: 3, stressIdleMs: 4_000, junkCommands: 10_000 });
  const [idle, quiet] = [await SmtpClient.greeted(address), await SmtpClient.greeted(address)];
  const busy = await SmtpClient.greeted(address);
  let isOver = false;
  const talk = async (): Promise<void> => {
    while (!isOver) {
      t.is((await busy.command('NOOP')).code, 250);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const talked = talk();
  const [said] = await Promise.race([rest(idle), rest(quiet)]);
  t.is(said, '421 4.4.2');
  isOver = true;
  await talked;
  t.is((await busy.command('NOOP')).code, 250);
});

test('waiting for us is not idling', async (t) => {
  // A busy machine sends its commands within this time, and the spool takes longer.
  const { address, behave } = await limited(t, { idleMs: 2_000, minRateGraceMs: 2_000 });
  behave.spool = () => new Promise((resolve) => setTimeout(resolve, 3_500));
  const client = await SmtpClient.connect(address);
  await client.reply();
  client.write('HELO c.test\r\nMAIL FROM:<>\r\nRCPT TO:<alice@example.test>\r\nDATA\r\nx: y\r\n.\r\nQUIT\r\n');
  const codes = (await client.rest()).map((r) => r.code);
  t.deepEqual(codes, [250, 250, 250, 354, 250, 221]);
});

test('command lines that are too long, whole and without an end', async (t) => {
  const { address } = await limited(t, { commandLength: 600 });
  const whole = await SmtpClient.greeted(address);
  whole.write(`NOOP ${'x'.repeat(700)}\r\nNOOP\r\n`);
  t.deepEqual(await rest(whole), ['500 5.5.2']);
  const endless = await SmtpClient.greeted(address);
  endless.write('x'.repeat(700));
  t.deepEqual(await rest(endless), ['500 5.5.2']);
});

test('who speaks before the banner', async (t) => {
  const { address } = await limited(t, { greetDelayMs: 5000 });
  const early = await SmtpClient.connect(address);
  early.write('HELO x\r\nMAIL FROM:<>\r\n');
  t.deepEqual(
    (await early.rest()).map((r) => r.code),
    [421],
  );
});

test('who speaks HTTP', async (t) => {
  const { address } = await limited(t, {});
  const browser = await SmtpClient.connect(address);
  await browser.reply();
  browser.write('POST / HTTP/1.1\r\nHost: x\r\n\r\nHELO x\r\n');
  t.deepEqual(await rest(browser), ['421 4.7.0']);
});

test('who speaks another protocol is sent away with its first octets', async (t) => {
  const { address } = await limited(t, {});
  for (const opening of [
    'GET /',
    'options * HTTP',
    'PRI * HTTP/2.0\r\n',
    Buffer.from([22, 3, 1, 2, 0, 1, 0]),
    '\u0000',
    '*1\r\n',
  ]) {
    const client = await SmtpClient.connect(address);
    await client.reply();
    client.write(opening);
    t.deepEqual(await rest(client), ['421 4.7.0'], String(opening));
  }
  const inPieces = await SmtpClient.connect(address);
  await inPieces.reply();
  await inPieces.segments([...'POST /'].map((octet) => Buffer.from(octet)));
  t.deepEqual(await rest(inPieces), ['421 4.7.0']);
  const sloppy = await SmtpClient.connect(address);
  await sloppy.reply();
  t.is((await sloppy.command('\r\nGETX')).code, 500);
});

test('commands that are not for this listener', async (t) => {
  const { address } = await limited(t, { errors: 100 });
  const client = await SmtpClient.greeted(address);
  for (const line of ['AUTH PLAIN AGEAYQ==', 'EXPN all', 'ETRN x', 'XCLIENT NAME=x', 'TURN']) {
    t.is((await client.command(line)).text.split(' ')[0], '5.5.1', line);
  }
  for (const line of ['WIZ', 'SHELL', 'KILL', 'FOO']) t.is((await client.command(line)).code, 500, line);
  t.is((await client.command('DATA')).text.split(' ')[0], '5.5.1');
  t.is((await client.command('MAIL FROM:<>')).code, 250);
  t.is((await client.command('MAIL FROM:<>')).text.split(' ')[0], '5.5.1');
  await client.command('RCPT TO:<alice@example.test>');
  t.is((await client.command('DATA now')).text.split(' ')[0], '5.5.4');
  t.is((await client.command('VRFY alice')).code, 252);
});

test('when others have used the memory of the spool up, mail is taken all the same', async (t) => {
  const { address, spool, stored } = await listen(t, { memoryLimit: 80_000 });
  for (let i = 0; i < 8; i++) t.truthy(spool.memory.reserve(`other ${i}`, 10_000));
  const client = await SmtpClient.greeted(address);
  const text = `Subject: x\r\n\r\n${'y'.repeat(20_000)}`;
  t.is((await client.send('', ['alice@example.test'], text)).code, 250);
  t.is((await client.send('', ['alice@example.test'], 'x'.repeat(20_000))).code, 250);
  t.deepEqual(
    stored.map(({ body }) => body),
    [`${text}\r\n`, `${'x'.repeat(20_000)}\r\n`],
  );
  t.is(spool.memory.used, 80_000);
});

test('headers without an end take no memory from others', async (t) => {
  const { address, spool, stored, listener } = await listen(t, { memoryLimit: 8_000_000 });
  const header = `${'X-Filler: y\r\n'.repeat(40_000)}`;
  // Eight addresses send as much as an address may have in memory; no header ends.
  const hostile = await Promise.all(
    Array.from({ length: 16 }, async (_, i) => {
      const client = await SmtpClient.greeted(address, `127.0.0.${2 + (i % 8)}`);
      await client.envelope('', 'alice@example.test');
      await client.written(header);
      return client;
    }),
  );
  // The server reads what the kernel has in the next turns.
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  const client = await SmtpClient.greeted(address);
  t.is((await client.send('', ['alice@example.test'], `Subject: x\r\n\r\n${'y'.repeat(250_000)}`)).code, 250);
  t.is(stored.length, 1);
  t.true(spool.memory.used <= 16 * 65_536);
  for (const one of hostile) one.destroy();
  await listener.stop(60_000);
  t.is(spool.memory.used, 0);
});
