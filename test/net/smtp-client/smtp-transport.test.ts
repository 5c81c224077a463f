// Tests the SMTP client with real DNS and real servers: what it sends, and the outcome for each recipient.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { scripted } from '../../../dev/servers/remote-smtp.js';
import { StoreFault } from '../../../src/store/errors.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { kinds, MESSAGE, MX1, MX2, only, tried, world } from './client-world.js';

test('a message arrives as it is stored, with the names it should have', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: { 'remote.test': { MX: [[10, 'mx1.remote.test']] }, 'mx1.remote.test': MX1 },
  });
  const mx = await remote('127.0.0.2', { size: 1_000_000 });
  const text = 'From: a@sender.test\r\n\r\n.dot\r\n..\r\n.\r\nlast\r\n';
  const report = await deliver('remote.test', ['b'], text);
  t.deepEqual(kinds(report), { b: 'delivered 2.0.0' });
  t.is(report.outcomes[0]!.host, 'mx1.remote.test');
  t.is(mx.messages[0]!.text, text);
  t.is(mx.messages[0]!.sender, 'a@sender.test');
  t.is(mx.messages[0]!.ehlo, 'mail.sender.test');
  t.is(mx.messages[0]!.parameters['SIZE'], String(text.length));
  const [attempt] = report.attempts;
  t.like(attempt, { domain: 'remote.test', host: 'mx1.remote.test', remoteAddress: '127.0.0.2', tls: null });
  t.deepEqual(attempt!.recipients, [{ id: 'id-b', outcome: 'delivered', statusCode: '2.0.0' }]);
  t.true(attempt!.reply.startsWith('250'));
});

test('whatever its lines are, it arrives whole: as it is when they end in CRLF, and no line of it ends it', async (t) => {
  const { remote, deliver } = await world(t, { zones: { 'remote.test': MX1 } });
  const mx = await remote('127.0.0.2');
  const piece = fc.constantFrom('\r\n', '\r\n', '.', 'text', '\r\n.', '\n', '\r', ' ', '\r\n.\r\n');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.boolean(), async (pieces, isWhole) => {
      const text = `A: b\r\n\r\n${pieces.join('')}${isWhole ? '\r\n' : ''}`;
      const before = mx.messages.length;
      t.deepEqual(kinds(await deliver('remote.test', ['b'], text)), { b: 'delivered 2.0.0' });
      t.is(mx.messages.length, before + 1);
      const lines = text.replace(/\r\n|\r|\n/g, '\r\n');
      t.is(mx.messages.at(-1)!.text, lines.endsWith('\r\n') ? lines : `${lines}\r\n`);
    }),
    { numRuns: runs(200) },
  );
});

test('one transaction for all recipients; each has its own answer', async (t) => {
  const { remote, deliver } = await world(t, { zones: { 'remote.test': MX1 } });
  const mx = await remote('127.0.0.2', {
    behaviour: {
      rcpt: (address) =>
        address.startsWith('nobody')
          ? '550 5.1.1 no such user'
          : address.startsWith('grey')
            ? '451 4.7.1 later'
            : undefined,
    },
  });
  const report = await deliver('remote.test', ['a', 'nobody', 'c', 'grey']);
  t.deepEqual(kinds(report), {
    a: 'delivered 2.0.0',
    nobody: 'permanent 5.1.1',
    c: 'delivered 2.0.0',
    grey: 'temporary 4.7.1',
  });
  t.is(report.outcomes.find(({ recipientId }) => recipientId === 'id-nobody')!.text, '550 5.1.1 no such user');
  t.is(mx.messages.length, 1);
  t.deepEqual(mx.messages[0]!.recipients, ['a@remote.test', 'c@remote.test']);
  t.is(report.attempts.length, 1);
});

test('without PIPELINING it is the same', async (t) => {
  const { remote, deliver } = await world(t, { zones: { 'remote.test': MX1 } });
  const mx = await remote('127.0.0.2', {
    hidden: ['PIPELINING'],
    behaviour: { rcpt: (address) => (address.startsWith('nobody') ? '550 5.1.1 no such user' : undefined) },
  });
  t.deepEqual(kinds(await deliver('remote.test', ['a', 'nobody'])), {
    a: 'delivered 2.0.0',
    nobody: 'permanent 5.1.1',
  });
  t.is(only(await deliver('remote.test', ['nobody'])), 'permanent 5.1.1');
  t.is(only(await deliver('remote.test', ['c'])), 'delivered 2.0.0');
  t.is(mx.connections, 2, 'a refusal on a used connection is asked for again on another one');
});

test('a refusal of the sender or of the message decides for all', async (t) => {
  const { remote, deliver } = await world(t, { zones: { 'remote.test': MX1 } });
  const mx = await remote('127.0.0.2', { behaviour: { mail: () => '550 5.7.1 not from you' } });
  t.deepEqual(kinds(await deliver('remote.test', ['a', 'b'])), { a: 'permanent 5.7.1', b: 'permanent 5.7.1' });
  delete mx.behaviour.mail;
  mx.behaviour.message = () => '554 5.6.0 no thanks';
  t.deepEqual(kinds(await deliver('remote.test', ['a', 'b'])), { a: 'permanent 5.6.0', b: 'permanent 5.6.0' });
  mx.behaviour.message = () => '451 4.3.0 later';
  t.is(only(await deliver('remote.test')), 'temporary 4.3.0');
  delete mx.behaviour.message;
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  t.is(mx.connections, 1);
});

test('a server of old, which knows HELO alone', async (t) => {
  const { bare, deliver } = await world(t, { zones: { 'remote.test': MX1 } });
  const heard: string[] = [];
  await bare('127.0.0.2', (socket) => {
    scripted({ EHLO: '502 5.5.1 what', DATA: '354 go' })(socket);
    socket.on('data', (text: string) => heard.push(text));
  });
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  t.deepEqual(heard.slice(0, 4), [
    'EHLO mail.sender.test\r\n',
    'HELO mail.sender.test\r\n',
    'MAIL FROM:<a@sender.test>\r\n',
    'RCPT TO:<b@remote.test>\r\n',
  ]);
});

test('a refusal of DATA is for those whose address was taken', async (t) => {
  for (const extensions of ['250 x', '250-x\r\n250 PIPELINING']) {
    const { bare, deliver } = await world(t, { zones: { 'remote.test': MX1 } });
    let recipients = 0;
    const server = await bare('127.0.0.2', (socket) => {
      const replies: Record<string, string> = { EHLO: extensions, DATA: '554 5.5.1 not now' };
      scripted(replies)(socket);
      socket.prependListener('data', () => {
        Object.defineProperty(replies, 'RCPT', {
          get: () => (++recipients === 1 ? '550 no' : '250 ok'),
          configurable: true,
        });
      });
    });
    t.deepEqual(kinds(await deliver('remote.test', ['no', 'b'])), { no: 'permanent 5.1.1', b: 'permanent 5.5.1' });
    await server.close();
  }
});

test('a connection lost after the message is temporary, no other host is tried, and the next attempt begins with the next one', async (t) => {
  const { transport, deliver, remote, task } = await world(t, {
    zones: {
      'remote.test': {
        MX: [
          [10, 'mx1.remote.test'],
          [20, 'mx2.remote.test'],
        ],
      },
      'mx1.remote.test': MX1,
      'mx2.remote.test': MX2,
    },
  });
  const first = await remote('127.0.0.2', { behaviour: { dropsAfterData: true } });
  const second = await remote('127.0.0.3');
  const report = await deliver('remote.test');
  t.is(only(report), 'temporary 4.4.2');
  t.like(report.outcomes[0], { doubtfulHost: 'mx1.remote.test' });
  t.regex(report.attempts[0]!.reply, /may have taken the message/, 'the timeline says so');
  t.is(second.connections, 0);
  const again = (doubtfulHost: string) => {
    const asked = task('remote.test');
    return transport.deliver({ ...asked, recipients: asked.recipients.map((each) => ({ ...each, doubtfulHost })) });
  };
  t.deepEqual(tried(await again('mx1.remote.test')), ['mx2.remote.test 127.0.0.3']);
  // After the last host the first one is next; the doubtful one comes last.
  t.deepEqual(tried(await again('mx2.remote.test')), ['mx1.remote.test 127.0.0.2']);
  first.behaviour.dropsAfterData = false;
  await second.close();
  t.deepEqual(tried(await again('mx1.remote.test')), ['mx2.remote.test 127.0.0.3', 'mx1.remote.test 127.0.0.2']);
});

test('what the sender asks to be told goes to a host that knows DSN, and no other host is said to have it', async (t) => {
  const zones = { 'remote.test': MX1, 'old.test': MX2 };
  for (const hidden of [[], ['PIPELINING']] as const) {
    const { transport, remote, task } = await world(t, { zones });
    const mx = await remote('127.0.0.2', { dsn: true, hidden });
    const old = await remote('127.0.0.3', { hidden });
    const asked = {
      b: { notify: ['SUCCESS', 'DELAY'] as const, orcpt: 'rfc822;x+y@z.test' },
      c: { notify: [], orcpt: null },
    };
    const send = async (domain: string) => {
      const { recipients, ...rest } = task(domain, ['a', 'b', 'c']);
      const named = recipients.map((each) => ({ ...each, dsn: asked[each.id.slice(3) as 'b' | 'c'] }));
      const dsn = { ret: 'FULL', envid: 'e=1' } as const;
      const { outcomes } = await transport.deliver({ ...rest, recipients: named, dsn });
      return outcomes.map((outcome) => (outcome.kind === 'delivered' ? outcome.onward : outcome.kind));
    };
    t.deepEqual(await send('remote.test'), ['passed', 'passed', 'passed']);
    t.like(mx.messages[0]!.parameters, { RET: 'FULL', ENVID: 'e=1' });
    t.deepEqual(mx.messages[0]!.asked, [
      {},
      { NOTIFY: 'SUCCESS,DELAY', ORCPT: 'rfc822;x+y@z.test' },
      { NOTIFY: 'NEVER' },
    ]);
    t.deepEqual(await send('old.test'), ['relayed', 'relayed', 'relayed']);
    t.is(old.messages[0]!.parameters['RET'], undefined);
    t.deepEqual(old.messages[0]!.asked, [{}, {}, {}]);
    await Promise.all([mx.close(), old.close()]);
  }
});

test('servers that take few recipients get the rest in further transactions', async (t) => {
  const { deliver, remote } = await world(t, { zones: { 'remote.test': MX1 }, limits: { recipients: 5 } });
  const mx = await remote('127.0.0.2', {
    behaviour: {
      rcpt: (address, { envelope }) =>
        address.startsWith('full')
          ? '452 4.2.2 mailbox full'
          : envelope.rcptTo.length >= 2
            ? '452 4.5.3 too many'
            : undefined,
    },
  });
  const report = await deliver('remote.test', ['a', 'b', 'c', 'full', 'd', 'e', 'f']);
  t.deepEqual(kinds(report)['full'], 'temporary 4.2.2');
  t.is(Object.values(kinds(report)).filter((kind) => kind === 'delivered 2.0.0').length, 6);
  t.is(mx.messages.length, 3);
  t.is(mx.connections, 1);
  mx.behaviour.rcpt = () => '452 4.5.3 too many';
  t.is(only(await deliver('remote.test', ['a'])), 'temporary 4.5.3');
});

test('what a message needs and the server lacks is said without sending it', async (t) => {
  const { deliver, remote, task, transport } = await world(t, {
    zones: { 'remote.test': MX1, 'modern.test': MX2 },
  });
  const old = await remote('127.0.0.2', { size: 200, hidden: ['8BITMIME', 'SMTPUTF8'] });
  const modern = await remote('127.0.0.3');
  t.is(only(await deliver('remote.test', ['b'], `${MESSAGE}${'x'.repeat(200)}\r\n`)), 'permanent 5.3.4');
  t.is(only(await deliver('remote.test', ['b'], `From: grün@remote.test\r\n\r\nx\r\n`)), 'permanent 5.6.7');
  t.is(only(await deliver('remote.test', ['grün'])), 'permanent 5.6.7');
  t.is(old.messages.length, 0);
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');

  t.is(only(await deliver('modern.test', ['b'], `${MESSAGE}grün\r\n`)), 'delivered 2.0.0');
  t.like(modern.messages[0]!.parameters, { BODY: '8BITMIME', SMTPUTF8: undefined });
  t.is(only(await deliver('modern.test', ['b'], `Subject: grün\r\n\r\nx\r\n`)), 'delivered 2.0.0');
  t.like(modern.messages[1]!.parameters, { BODY: '8BITMIME', SMTPUTF8: true });
  t.is(only(await deliver('modern.test', ['grün'])), 'delivered 2.0.0');
  t.is(modern.messages[2]!.parameters['SMTPUTF8'], true);
  t.is(
    only(await deliver('modern.test', ['b'], Buffer.from('Subject: gr\xfcn\r\n\r\nx\r\n', 'latin1'))),
    'delivered 2.0.0',
  );
  t.like(modern.messages[3]!.parameters, { BODY: '8BITMIME', SMTPUTF8: undefined });
  t.is(only(await transport.deliver({ ...task('modern.test'), sender: '' })), 'delivered 2.0.0');
  t.is(modern.messages[4]!.sender, '');
});

test('large messages are streamed, with every octet in place', async (t) => {
  const { deliver, remote } = await world(t, { zones: { 'remote.test': MX1 } });
  const mx = await remote('127.0.0.2');
  let text = 'Subject: large\r\n\r\n';
  for (let i = 0; text.length < 1_500_000; i++) text += `${'.'.repeat(i % 4)}line ${i} of many\r\n`;
  t.is(only(await deliver('remote.test', ['b'], text)), 'delivered 2.0.0');
  t.true(mx.messages[0]!.text === text);
});

test('a message is signed once, and goes unsigned when that fails', async (t) => {
  const asked: string[] = [];
  let lines = 'DKIM-Signature: v=1;\r\n b=abc\r\n';
  const { deliver, remote } = await world(t, {
    zones: { 'remote.test': MX1 },
    sign: async (domain, open, hash) => {
      const octets = createHash('sha256');
      for await (const chunk of open()) octets.update(chunk);
      asked.push(`${domain} ${octets.digest('hex') === hash}`);
      return lines;
    },
  });
  const mx = await remote('127.0.0.2');
  await deliver('remote.test', ['a', 'b']);
  t.is(mx.messages[0]!.text, `${lines}${MESSAGE}`);
  t.deepEqual(asked, ['sender.test true']);
  for (const bad of ['X: y\r\n\r\nbody', 'X: y\n', 'no end', 'X: ü\r\n']) {
    lines = bad;
    t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
    t.is(mx.messages.at(-1)!.text, MESSAGE);
  }
});

test('a message waits for keys that cannot be read now, not for those that never can', async (t) => {
  let temporary = true;
  const { deliver, remote } = await world(t, {
    zones: { 'remote.test': MX1 },
    sign: async () => {
      throw new StoreFault('store-unavailable', 'no database', { temporary });
    },
  });
  const mx = await remote('127.0.0.2');
  await t.throwsAsync(deliver('remote.test'), { instanceOf: StoreFault });
  t.is(mx.connections, 0);
  temporary = false;
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
});

test('the domain of the author signs, else that of the envelope', async (t) => {
  const asked: string[] = [];
  const keys = new Set(['sender.test', 'author.test']);
  const sign = async (domain: string) => {
    asked.push(domain);
    return keys.has(domain) ? `DKIM-Signature: d=${domain}\r\n` : '';
  };
  const { remote, task, transport } = await world(t, { zones: { 'remote.test': MX1 }, sign });
  const mx = await remote('127.0.0.2');
  const signer = async (field: string, sender: string, body = 'x\r\n') => {
    await transport.deliver({ ...task('remote.test', ['b'], `${field}Subject: ${sender}\r\n\r\n${body}`), sender });
    return /d=(.*)/.exec(mx.messages.at(-1)!.text)?.[1];
  };
  t.is(await signer('From: a@sender.test\r\n', 'a@sender.test'), 'sender.test');
  t.is(await signer('From: A <a@Author.Test>\r\n', 'a@sender.test'), 'author.test');
  t.is(await signer('From: a@author.test\r\n', ''), 'author.test');
  t.is(await signer('From: a@author.test, b@sender.test\r\n', 'a@sender.test'), 'sender.test');
  t.is(await signer('From: a@keyless.test\r\n', 'a@sender.test'), 'sender.test');
  t.is(await signer('', 'a@sender.test'), 'sender.test');
  // The message is longer than what is kept in memory.
  t.is(await signer('From: a@author.test\r\n', '', 'line\r\n'.repeat(60_000)), 'author.test');
  asked.length = 0;
  t.is(await signer('', ''), undefined);
  t.deepEqual(asked, []);
});

test('addresses that are none never reach a server', async (t) => {
  const { transport, remote, task } = await world(t, { zones: { 'remote.test': MX1 } });
  const mx = await remote('127.0.0.2');
  const evil = [
    'x@remote.test\r\nRCPT TO:<y@remote.test',
    'x@remote.test> SIZE=1',
    '"a<b"@remote.test',
    'no-address',
    '"a\nb"@remote.test',
  ];
  const report = await transport.deliver({
    ...task('remote.test'),
    recipients: [...evil, 'fine@remote.test', "o'neil+x@remote.test"].map((address, i) => ({
      id: `id-${i}`,
      address,
    })),
  });
  t.deepEqual(Object.values(kinds(report)).sort(), [
    ...Array.from({ length: 2 }, () => 'delivered 2.0.0'),
    ...Array.from({ length: 5 }, () => 'permanent 5.1.3'),
  ]);
  t.deepEqual(
    mx.messages.map(({ recipients }) => recipients),
    [['fine@remote.test', "o'neil+x@remote.test"]],
  );
  const forged = await transport.deliver({ ...task('remote.test'), sender: 'a@sender.test>\r\nRSET' });
  t.is(only(forged), 'permanent 5.1.3');
  t.is(mx.messages.length, 1);
});
