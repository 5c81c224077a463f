// Tests servers that are slow, silent, endless or broken: time and memory are limited, and other mail continues.

import fc from 'fast-check';
import { scripted } from '../../../dev/servers/remote-smtp.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { kinds, only, tried, world } from './client-world.js';

const ZONES = {
  'remote.test': {
    MX: [
      [10, 'mx1.remote.test'],
      [20, 'mx2.remote.test'],
    ],
  },
  'one.test': { MX: [[10, 'mx1.remote.test']] },
  'two.test': { MX: [[10, 'mx2.remote.test']] },
  'mx1.remote.test': { A: ['127.0.0.2'] },
  'mx2.remote.test': { A: ['127.0.0.3'] },
} as const;

test('a server that says nothing is left for the next, and not waited for again at once', async (t) => {
  // The next server answers within this time on a busy machine.
  const { bare, remote, deliver } = await world(t, { zones: ZONES, limits: { setupMs: 5_000 } });
  const silent = await bare('127.0.0.2', () => {});
  await remote('127.0.0.3');
  const report = await deliver('remote.test');
  t.is(only(report), 'delivered 2.0.0');
  t.is(report.attempts[0]!.recipients[0]!.statusCode, '4.4.2');
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  t.is(only(await deliver('one.test')), 'temporary 4.4.1');
  t.is(silent.connections, 1);
});

test('a server that drips its words has an end in every phase', async (t) => {
  const drip = (text: string) => (socket: import('node:net').Socket) => {
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++ % text.length]!), 10);
    socket.on('data', () => {});
    socket.once('close', () => clearInterval(timer));
  };
  const { bare, deliver } = await world(t, { zones: ZONES, limits: { setupMs: 300 } });
  const greeting = await bare('127.0.0.2', drip('220-x'));
  t.regex(only(await deliver('one.test')), /^temporary 4\.(4\.[12]|5\.0)$/);
  await greeting.close();

  for (const stage of ['MAIL', 'message']) {
    const { bare: serve, deliver: send } = await world(t, {
      zones: ZONES,
      limits: { envelopeMs: 300, messageMs: 300 },
    });
    const slow = await serve('127.0.0.2', (socket) => {
      const timer = setInterval(() => socket.write(''), 10);
      socket.once('close', () => clearInterval(timer));
      scripted({ DATA: '354 go', [stage]: '250-and\r\n250-so on' })(socket);
    });
    const report = await send('one.test');
    t.is(only(report), 'temporary 4.4.2', stage);
    await slow.close();
  }
});

test('endless replies end: one line, many lines, empty lines, many replies', async (t) => {
  for (const flood of ['x', '220-more\r\n', '\r\n', '\n', '250 hello\r\n']) {
    const { bare, deliver } = await world(t, { zones: ZONES });
    const chunk = flood.repeat(Math.ceil(65_536 / flood.length));
    let sent = 0;
    const server = await bare('127.0.0.2', (socket) => {
      const push = () => {
        while (!socket.destroyed && sent < 200_000_000 && socket.write(chunk)) sent += chunk.length;
      };
      socket.on('drain', push);
      push();
    });
    t.is(only(await deliver('one.test')), 'temporary 4.5.0', JSON.stringify(flood));
    t.true(sent < 100_000_000);
    await server.close();
  }
});

test('unsolicited replies in the middle of an envelope', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES });
  const server = await bare(
    '127.0.0.2',
    scripted({
      EHLO: '250-x\r\n250 PIPELINING',
      MAIL: '250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n250 taken\r\n250 more',
    }),
  );
  // The server said that it accepted a message that it had not received.
  t.is(only(await deliver('one.test')), 'temporary 4.5.0');
  t.is(only(await deliver('one.test')), 'temporary 4.5.0');
  t.is(server.connections, 2, 'who is out of step is not used again');
});

test('a success before the message is sent is none', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES });
  await bare('127.0.0.2', scripted({ DATA: '354 go\r\n250 thank you' }));
  const large = `Subject: x\r\n\r\n${'a line of text\r\n'.repeat(300_000)}`;
  t.is(only(await deliver('one.test', ['b'], large)), 'temporary 4.5.0');
});

test('a server that does not take the message away', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES, limits: { blockMs: 300, messageMs: 300 } });
  await bare('127.0.0.2', (socket) => {
    scripted({ DATA: '354 go' })(socket);
    socket.on('data', (text: string) => {
      if (text.includes('DATA')) socket.pause();
    });
  });
  const large = `Subject: x\r\n\r\n${'a line of text\r\n'.repeat(1_000_000)}`;
  t.is(only(await deliver('one.test', ['b'], large)), 'temporary 4.4.2');
});

test('whatever a server answers, everyone has an outcome, and delivered is what it took', async (t) => {
  const { bare, deliver } = await world(t, {
    zones: ZONES,
    // The answers of a connection are chosen when it opens.
    limits: { setupMs: 500, envelopeMs: 200, messageMs: 200, closingMs: 1, messagesPerConnection: 1 },
  });
  let replies: Readonly<Record<string, string>> = {};
  await bare('127.0.0.2', (socket) => scripted({ ...replies })(socket));
  const usual = (reply: string) => ({ arbitrary: fc.constant(reply), weight: 6 });
  const strange = fc.constantFrom(
    '250 ok',
    '354 go',
    '421 bye',
    '450 4.2.1 later',
    '550 5.1.1 no',
    '503 bad sequence',
    '250-half',
    'nonsense',
    '',
    '\r\n\r\n',
    '250 ok\r\n250 ok',
    '999 what',
    '5',
    '550',
    '221 bye',
    '552 5.5.3 too many',
    '\0\0\0',
    '250 ok\r\n421 bye',
  );
  const reply = (normal: string) => fc.oneof(usual(normal), { arbitrary: strange, weight: 1 });
  const scripts = fc.record({
    greeting: reply('220 x'),
    EHLO: fc.oneof(usual('250-x\r\n250 PIPELINING'), usual('250 x'), { arbitrary: strange, weight: 1 }),
    HELO: reply('250 x'),
    MAIL: reply('250 ok'),
    RCPT: reply('250 ok'),
    DATA: reply('354 go'),
    message: reply('250 taken'),
    RSET: reply('250 ok'),
  });
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      replies = script;
      const report = await deliver('one.test', ['a', 'b']);
      t.deepEqual(Object.keys(kinds(report)).sort(), ['a', 'b']);
      t.true(report.attempts.length >= 1);
      // An unsolicited reply may be taken for the reply to any command, at the server's own risk.
      const isInStep = Object.values({ ...script, EHLO: '' }).every((text) => !text.includes('\r\n'));
      const isAccepted = Object.values(kinds(report)).some((kind) => kind.startsWith('delivered'));
      // RFC 5321 §4.2.1: the first digit says whether the message was accepted.
      if (isAccepted && isInStep) t.regex(script.message, /^2\d\d /, JSON.stringify(script));
    }),
    { numRuns: runs(60) },
  );
});

test('421 ends the connection, and the host is left alone for a moment', async (t) => {
  const { bare, remote, deliver } = await world(t, { zones: ZONES, limits: { closingMs: 100 } });
  const closing = await bare('127.0.0.2', scripted({ greeting: '421 4.3.2 not now' }));
  await remote('127.0.0.3');
  const report = await deliver('remote.test');
  t.is(only(report), 'delivered 2.0.0');
  t.deepEqual(tried(report), ['mx1.remote.test 127.0.0.2', 'mx2.remote.test 127.0.0.3']);
  t.is(report.attempts[0]!.recipients[0]!.statusCode, '4.3.2');
  t.is(only(await deliver('one.test')), 'temporary 4.3.2');
  t.is(only(await deliver('one.test')), 'temporary 4.3.2');
  t.true(closing.connections <= 3);
  await closing.close();
});

test('421 in the middle: recipients with a reply keep it, the others are tried again', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES });
  let recipients = 0;
  await bare('127.0.0.2', (socket) => {
    socket.write('220 x\r\n');
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (!text.startsWith('RCPT')) socket.write('250 ok\r\n');
      else if (++recipients === 1) socket.write('550 5.1.1 no\r\n');
      else socket.end('421 4.7.0 enough\r\n');
    });
  });
  t.deepEqual(kinds(await deliver('one.test', ['no', 'b', 'c'])), {
    no: 'permanent 5.1.1',
    b: 'temporary 4.7.0',
    c: 'temporary 4.7.0',
  });
});

test('an attempt that is called off ends at once, in every phase', async (t) => {
  for (const stage of ['greeting', 'EHLO', 'MAIL', 'DATA', 'message']) {
    const controller = new AbortController();
    const { bare, transport, task } = await world(t, { zones: ZONES });
    const server = await bare('127.0.0.2', (socket) => {
      const pass = scripted({ DATA: '354 go' });
      if (stage === 'greeting') return controller.abort();
      pass(socket);
      const verbs: Record<string, RegExp> = { EHLO: /^EHLO/, MAIL: /^MAIL/, DATA: /^DATA/, message: /hello/ };
      // The abort comes before the answer is sent.
      socket.prependListener('data', (text: string) => {
        if (verbs[stage]!.test(text)) controller.abort();
      });
      return undefined;
    });
    const report = await transport.deliver({ ...task('remote.test'), signal: controller.signal });
    t.is(only(report), 'temporary 4.4.2', stage);
    t.is(report.attempts.length, 1, stage);
    await server.close();
  }
});

test('when the client closes, tasks end within the grace and no more are taken', async (t) => {
  const { bare, transport, deliver } = await world(t, { zones: ZONES });
  const silent = await bare('127.0.0.2', () => {});
  const pending = deliver('one.test');
  while (silent.connections === 0) await new Promise(setImmediate);
  await transport.close(0);
  t.is(only(await pending), 'temporary 4.4.2');
  t.is(only(await deliver('two.test')), 'temporary 4.4.2');
});
