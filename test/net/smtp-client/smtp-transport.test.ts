// Tests the SMTP client with real DNS and real servers: where mail goes, and the outcome for each recipient.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { scripted } from '../../../dev/servers/remote-smtp.js';
import type { Dns } from '../../../src/net/dns/resolver.js';
import { mailExchangers } from '../../../src/net/smtp-client/mail-exchangers.js';
import { StoreFault } from '../../../src/store/errors.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';
import { kinds, MESSAGE, only, tried, world } from './client-world.js';

const MX1 = { A: ['127.0.0.2'] };
const MX2 = { A: ['127.0.0.3'] };

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

test('a dead first host leads to the next, and back to the best when it lives', async (t) => {
  const { remote, deliver } = await world(t, {
    zones: {
      'remote.test': {
        MX: [
          [20, 'mx2.remote.test'],
          [10, 'mx1.remote.test'],
        ],
      },
      'mx1.remote.test': MX1,
      'mx2.remote.test': MX2,
    },
  });
  const second = await remote('127.0.0.3');
  const report = await deliver('remote.test');
  t.is(only(report), 'delivered 2.0.0');
  t.deepEqual(tried(report), ['mx1.remote.test 127.0.0.2', 'mx2.remote.test 127.0.0.3']);
  t.is(report.attempts[0]!.recipients[0]!.outcome, 'temporary');
  t.is(report.attempts[0]!.recipients[0]!.statusCode, '4.4.1');
  const first = await remote('127.0.0.2');
  t.is(only(await deliver('remote.test')), 'delivered 2.0.0');
  t.deepEqual([first.messages.length, second.messages.length], [1, 1]);
});

test('hosts of one priority are tried in the order that is drawn', async (t) => {
  const records = [
    { priority: 20, exchange: 'last.test' },
    { priority: 10, exchange: 'A.test' },
    { priority: 10, exchange: 'b.test.' },
    { priority: 10, exchange: 'c.test' },
    { priority: 30, exchange: 'a.test' },
    { priority: 1, exchange: 'not a host' },
  ];
  const dns = { resolve: async () => records } as unknown as Dns;
  const order = async (...draws: number[]) => {
    const hosts = await mailExchangers(dns, 'x.test', () => draws.shift()!);
    return 'fault' in hosts ? hosts.fault : hosts.map(({ host }) => host.replace('.test', '')).join(' ');
  };
  t.is(await order(0.5, 0.1, 0.2, 0.3), 'a b c last');
  t.is(await order(0.5, 0.9, 0.2, 0.3), 'b c a last');
  t.is(await order(0.5, 0.5, 0.6, 0.1), 'c a b last');
});

test('temporary refusals lead to the next host, permanent ones do not', async (t) => {
  const { remote, deliver } = await world(t, {
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
  await remote('127.0.0.2', {
    behaviour: {
      rcpt: (address) =>
        address.startsWith('grey') ? '450 4.2.0 later' : address.startsWith('no') ? '550 no' : undefined,
    },
  });
  const second = await remote('127.0.0.3');
  const report = await deliver('remote.test', ['a', 'grey', 'no']);
  t.deepEqual(kinds(report), { a: 'delivered 2.0.0', grey: 'delivered 2.0.0', no: 'permanent 5.1.1' });
  t.deepEqual(second.messages[0]!.recipients, ['grey@remote.test']);
  t.is(report.attempts.length, 2);
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

test('a greeting of 5xx leads to the next host, and fails when there is none', async (t) => {
  const { remote, bare, deliver } = await world(t, {
    zones: {
      'two.test': {
        MX: [
          [10, 'mx1.remote.test'],
          [20, 'mx2.remote.test'],
        ],
      },
      'one.test': { MX: [[10, 'mx1.remote.test']] },
      'mx1.remote.test': MX1,
      'mx2.remote.test': MX2,
    },
  });
  await bare('127.0.0.2', scripted({ greeting: '554 5.3.2 no mail here' }));
  await remote('127.0.0.3');
  t.is(only(await deliver('two.test')), 'delivered 2.0.0');
  t.is(only(await deliver('one.test')), 'permanent 5.3.2');
});

test('no way to a domain: null MX, no domain, no host, DNS that is silent or broken', async (t) => {
  const { deliver, remote } = await world(t, {
    dnsTimeoutMs: 500,
    zones: {
      'null.test': { MX: [[0, '']] },
      'lost.test': { MX: [[10, 'gone.lost.test']] },
      'empty.test': { TXT: ['nothing else'] },
      'broken.test': { rcode: 'SERVFAIL' },
      'silent.test': { silent: true },
      'half.test': {
        MX: [
          [10, 'broken.test'],
          [20, 'mx1.remote.test'],
        ],
      },
      'mx1.remote.test': MX1,
    },
  });
  t.is(only(await deliver('null.test')), 'permanent 5.1.10');
  t.is(only(await deliver('nowhere.test')), 'permanent 5.1.2');
  t.is(only(await deliver('lost.test')), 'permanent 5.4.4');
  t.is(only(await deliver('empty.test')), 'permanent 5.1.2');
  t.is(only(await deliver('broken.test')), 'temporary 4.4.3');
  t.is(only(await deliver('silent.test')), 'temporary 4.4.3');
  await remote('127.0.0.2');
  t.is(only(await deliver('half.test')), 'delivered 2.0.0');
});

test('a domain without MX is its own host, and literals need no DNS', async (t) => {
  const { deliver, remote, dns } = await world(t, { zones: { 'implicit.test': { A: ['127.0.0.4'] } } });
  const mx = await remote('127.0.0.4');
  const report = await deliver('implicit.test');
  t.deepEqual(tried(report), ['implicit.test 127.0.0.4']);
  const asked = dns.asked.length;
  t.is(only(await deliver('[127.0.0.4]')), 'delivered 2.0.0');
  t.is(dns.asked.length, asked);
  t.deepEqual(mx.messages.at(-1)!.recipients, ['b@[127.0.0.4]']);
  t.is(only(await deliver('[ipv6:fffff::1]')), 'permanent 5.1.3');
});

test('private addresses are refused unless they are allowed', async (t) => {
  const zones = {
    'v4.test': { A: ['10.1.2.3'] },
    'loop.test': { A: ['127.0.0.2'] },
    'v6.test': { AAAA: ['fe80::1'] },
    'mapped.test': { AAAA: ['::ffff:127.0.0.1'] },
    'zero.test': { A: ['0.0.0.0'] },
    'cast.test': { A: ['224.0.0.1'] },
  };
  const { deliver, remote } = await world(t, { zones, allowPrivate: false });
  const mx = await remote('127.0.0.2');
  for (const domain of [...Object.keys(zones), '[127.0.0.2]', '[ipv6:::1]']) {
    const report = await deliver(domain);
    t.is(only(report), 'permanent 5.4.6', domain);
    // Senders see both fields, so they do not reveal what a name resolves to.
    const [{ remoteAddress, reply }] = report.attempts as [(typeof report.attempts)[number]];
    t.deepEqual([remoteAddress, reply], [null, `${domain} has no public address`]);
  }
  t.is(mx.connections, 0);
});

test('mail never comes back to this host', async (t) => {
  const { deliver, remote, port } = await world(t, {
    zones: {
      'name.test': { MX: [[10, 'MAIL.sender.test']] },
      'backup.test': {
        MX: [
          [10, 'mail.sender.test'],
          [20, 'mx2.remote.test'],
        ],
      },
      'better.test': {
        MX: [
          [10, 'mail.sender.test'],
          [5, 'mx2.remote.test'],
        ],
      },
      'mx2.remote.test': MX2,
      'mail.sender.test': MX1,
    },
  });
  const mx = await remote('127.0.0.3');
  t.is(only(await deliver('name.test')), 'permanent 5.4.6');
  t.is(only(await deliver('backup.test')), 'permanent 5.4.6');
  t.is(only(await deliver('better.test')), 'delivered 2.0.0');
  t.is(mx.messages.length, 1);
  const same = await world(t, {
    port,
    own: { hostname: 'other.test', bind: '127.0.0.3', mxPort: () => port },
    zones: {
      'self.test': {
        MX: [
          [10, 'a.test'],
          [20, 'b.test'],
        ],
      },
      'a.test': MX2,
      'b.test': { A: ['127.0.0.5'] },
    },
  });
  t.is(only(await same.deliver('self.test')), 'permanent 5.4.6');
  t.is(mx.connections, 1);
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
