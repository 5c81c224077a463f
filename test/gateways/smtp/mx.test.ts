// Tests the MX listener as a peer sees it: accepted recipients, replies, what is stored, and what is asked of whom.
import { SmtpClient } from '../../support/clients/smtp-client.js';
import test from '../../support/test.js';
import { listen, MESSAGE } from './listener.js';

test('announces the extensions of docs/interface/mail.md', async (t) => {
  const { address } = await listen(t);
  const client = await SmtpClient.connect(address);
  const banner = await client.reply();
  t.is(banner.code, 220);
  t.regex(banner.text, /^mx\.example\.test ESMTP/);
  const { lines } = await client.command('EHLO client.test');
  t.deepEqual([...lines].sort(), [
    '8BITMIME',
    'CHUNKING',
    'ENHANCEDSTATUSCODES',
    'PIPELINING',
    'SIZE 1000000',
    'SMTPUTF8',
    'STARTTLS',
    'mx.example.test',
  ]);
});

test('accepts, stores one blob with trace lines before it, and asks the mailbox', async (t) => {
  const { address, stored, asked, logged } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const reply = await client.send('a@peer.test', ['alice@example.test'], MESSAGE);
  t.is(reply.code, 250);
  const id = /^2\.0\.0 .*([0-9a-f]{8}-[0-9a-f-]{27})$/.exec(reply.text)?.[1];
  t.truthy(id);
  t.is(stored.length, 1);
  t.is(stored[0]!.body, `${MESSAGE}\r\n`);
  t.regex(stored[0]!.text, /^Return-Path: <a@peer\.test>\r\nReceived: from client\.test /);
  t.true(stored[0]!.text.includes(id!));
  t.true(stored[0]!.text.includes('for <alice@example.test>'));
  t.is(asked.length, 1);
  t.is(asked[0]!.deadlineMs, 2000);
  t.like(asked[0]!.payload, { inboundId: stored[0]!.deliveries[0]!.id, blob: stored[0]!.hash });
  const line = logged.find((l) => l['msg'] === 'message accepted');
  t.like(line, {
    transaction: id,
    blob: stored[0]!.hash,
    sender: 'a@peer.test',
    tls: false,
    messageId: '<1@peer.test>',
  });
  t.like((line!['recipients'] as unknown[])[0], { accountId: 'alice', emailId: 'email-alice' });
});

test('a message without a Message-ID is stored with the id under which it was accepted', async (t) => {
  const { address, stored } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const { text } = await client.send('a@peer.test', ['alice@example.test'], 'Subject: no id\r\n\r\nhello');
  const id = /Accepted as (\S+)/.exec(text)?.[1];
  t.true(stored[0]!.text.endsWith(`\r\nMessage-ID: <${id}@mx.example.test>\r\nSubject: no id\r\n\r\nhello\r\n`));
});

test('a mailbox without room for the announced size is refused at RCPT, for good after days', async (t) => {
  const asked: [string, number][] = [];
  const rooms = ['full', 'fullForLong', 'room'] as const;
  const { address } = await listen(t, {
    quotas: {
      async roomFor(accountId, bytes) {
        asked.push([accountId, bytes]);
        return rooms[asked.length - 1] ?? 'room';
      },
    },
  });
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<a@peer.test> SIZE=5000');
  const answers = [];
  for (let i = 0; i < 3; i++) {
    const { code, text } = await client.command('RCPT TO:<alice@example.test>');
    answers.push(`${code} ${text.split(' ')[0]}`);
  }
  t.deepEqual(answers, ['452 4.2.2', '552 5.2.2', '250 2.1.5']);
  await client.command('RSET');
  await client.command('MAIL FROM:<a@peer.test>');
  await client.command('RCPT TO:<alice@example.test>');
  t.deepEqual(asked.at(-1), ['alice', 0]);
  t.deepEqual(asked[0], ['alice', 5_000]);
});

test('never a relay, and each recipient gets its own answer', async (t) => {
  const { address, stored } = await listen(t);
  const client = await SmtpClient.greeted(address);
  t.is((await client.command('MAIL FROM:<a@peer.test>')).text, '2.1.0 Accepted');
  const answers = [];
  for (const name of ['bob@other.test', 'nobody@example.test', 'full@example.test', 'alice@example.test']) {
    const { code, text } = await client.command(`RCPT TO:<${name}>`);
    answers.push(`${code} ${text.split(' ')[0]}`);
  }
  t.deepEqual(answers, ['550 5.7.1', '550 5.1.1', '450 4.2.1', '250 2.1.5']);
  t.is((await client.command('DATA')).code, 354);
  client.write(`${MESSAGE}\r\n.\r\n`);
  t.is((await client.reply()).code, 250);
  t.deepEqual(
    stored[0]!.deliveries.map((d) => d.accountId),
    ['alice'],
  );
});

test('one account reached by two addresses gets one delivery; several share one blob', async (t) => {
  const { address, stored, asked } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const names = ['alice@example.test', 'ALICE+list@example.test', 'bob@example.test'];
  t.is((await client.send('', names, MESSAGE)).code, 250);
  t.is(stored.length, 1);
  t.deepEqual(
    stored[0]!.deliveries.map((d) => d.accountId),
    ['alice', 'bob'],
  );
  t.is(asked.length, 2);
  t.regex(stored[0]!.text, /^Return-Path: <>\r\n/);
  t.false(stored[0]!.text.includes('for <'));
});

test('a hundred recipients, in one segment', async (t) => {
  const { address, stored } = await listen(t);
  const client = await SmtpClient.connect(address);
  await client.reply();
  const recipients = Array.from({ length: 100 }, (_, i) => `RCPT TO:<u${i}@example.test>\r\n`).join('');
  client.write(`EHLO c.test\r\nMAIL FROM:<a@peer.test>\r\n${recipients}DATA\r\n${MESSAGE}\r\n.\r\nNOOP\r\nQUIT\r\n`);
  const codes = (await client.rest()).map((r) => r.code);
  t.deepEqual(codes, [250, 250, ...new Array<number>(100).fill(250), 354, 250, 250, 221]);
  t.is(stored[0]!.deliveries.length, 100);
});

test('messages one after the other, and RSET between', async (t) => {
  const { address, stored } = await listen(t);
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<x@peer.test>');
  await client.command('RCPT TO:<bob@example.test>');
  t.is((await client.command('RSET')).code, 250);
  t.is((await client.command('RCPT TO:<bob@example.test>')).text.split(' ')[0], '5.5.1');
  for (let i = 0; i < 3; i++)
    t.is((await client.send('a@peer.test', ['alice@example.test'], `n: ${i}\r\n\r\n`)).code, 250);
  t.deepEqual(
    stored.map((s) => s.body),
    ['n: 0\r\n\r\n\r\n', 'n: 1\r\n\r\n\r\n', 'n: 2\r\n\r\n\r\n'],
  );
});

test('addresses: null sender, UTF-8, quoted, source route, broken ones', async (t) => {
  const { address, behave } = await listen(t, { limits: { errors: 100, greetDelayMs: 0 } });
  const seen: string[] = [];
  behave.recipient = (name) => {
    seen.push(name);
    return Promise.resolve({ kind: 'mailbox', accountId: 'x' });
  };
  const client = await SmtpClient.greeted(address);
  const answer = async (line: string): Promise<string> => {
    const { code, text } = await client.command(line);
    return `${code} ${text.split(' ')[0]}`;
  };
  const sender = async (line: string): Promise<string> => {
    await client.command('RSET');
    return answer(line);
  };
  t.is(await sender('MAIL FROM:<>'), '250 2.1.0');
  t.is(await sender('MAIL FROM: <a@peer.test> BODY=8BITMIME SIZE=100'), '250 2.1.0');
  t.is(await sender('mail from:<"john doe"@peer.test>'), '250 2.1.0');
  t.is(await sender('MAIL FROM:<@relay.test,@two.test:a@peer.test>'), '250 2.1.0');
  t.is(await sender('MAIL FROM:<пётр@peer.test>'), '553 5.6.7');
  t.is(await sender('MAIL FROM:<a@peer.test'), '501 5.1.7');
  t.is(await sender('MAIL FROM:a@peer.test'), '501 5.1.7');
  t.is(await sender('MAIL FROM:<a@peer..test>'), '501 5.1.7');
  t.is(await sender('MAIL FROM:<a@b@c>'), '501 5.1.7');
  t.is(await sender('MAIL FROM:<a\rRCPT@peer.test>'), '501 5.1.7');
  t.is(await sender('MAIL FROM:<postmaster>'), '501 5.1.7');
  t.is(await sender('MAIL FROM:<a@peer.test> AUTH=<>'), '555 5.5.4');
  t.is(await sender('MAIL FROM:<a@peer.test> RET=FULL'), '555 5.5.4');
  t.is(await sender('MAIL FROM:<a@peer.test> FOO'), '555 5.5.4');
  t.is(await sender('MAIL FROM:<a@peer.test> BODY=BINARYMIME'), '501 5.5.4');
  t.is(await sender('MAIL FROM:<a@peer.test> SIZE=abc'), '501 5.5.4');
  t.is(await sender('MAIL FROM:<a@peer.test> SIZE=1 SIZE=2'), '501 5.5.4');
  t.is(await sender('MAIL FROM:<a@peer.test> SIZE=1000001'), '552 5.3.4');
  t.is(await sender('MAIL FROM:<a@peer.test> SIZE=1000000'), '250 2.1.0');
  t.is(await answer('RCPT TO:<пётр@example.test>'), '553 5.6.7');
  t.is(await answer('RCPT TO:<>'), '501 5.1.3');
  t.is(await answer('RCPT TO:<x@example.test> NOTIFY=NEVER'), '555 5.5.4');
  for (const bad of ['NOTIFY=', 'ENVID=a=b', '=x'])
    t.is(await answer(`RCPT TO:<x@example.test> ${bad}`), '501 5.5.4', bad);
  t.is(await sender('MAIL FROM:<пётр@почта.test> SMTPUTF8'), '250 2.1.0');
  t.is(await answer('RCPT TO:<jürgen@bücher.test>'), '250 2.1.5');
  t.deepEqual(seen, ['jürgen@bücher.test']);
});

test('postmaster without a domain is the postmaster of a domain hosted here', async (t) => {
  const { address, stored } = await listen(t);
  const client = await SmtpClient.greeted(address);
  t.is((await client.send('a@peer.test', ['Postmaster'], MESSAGE)).code, 250);
  t.is(stored[0]!.deliveries[0]!.accountId, 'postmaster');
  const other = await listen(t, { hostname: 'host.invalid', hostedDomains: () => Promise.resolve(['example.test']) });
  const second = await SmtpClient.greeted(other.address);
  t.is((await second.send('a@peer.test', ['postmaster'], MESSAGE)).code, 250);
  const none = await SmtpClient.greeted((await listen(t, { hostname: 'host.invalid' })).address);
  await none.command('MAIL FROM:<>');
  t.is((await none.command('RCPT TO:<postmaster>')).text.split(' ')[0], '5.1.1');
});

test('thirty megabytes pass through a bounded spool', async (t) => {
  const { address, behave, spool, stored } = await listen(t, { maxMessageSize: 40_000_000 });
  const held: number[] = [];
  behave.spool = () => {
    held.push(spool.memory.used);
    return Promise.resolve();
  };
  const line = `${'x'.repeat(76)}\r\n`;
  const piece = Buffer.from(line.repeat(5000));
  const client = await SmtpClient.greeted(address);
  await client.envelope('', 'alice@example.test');
  await client.segments([
    Buffer.from('Subject: x\r\n\r\n'),
    ...new Array<Buffer>(77).fill(piece),
    Buffer.from('.\r\n'),
  ]);
  t.is((await client.reply()).code, 250);
  // The buffer of the file and the header are reserved.
  t.deepEqual(held, [65_536 + 'Subject: x\r\n\r\n'.length]);
  t.is(stored[0]!.body.length, 14 + 77 * piece.length);
  t.true(stored[0]!.body.endsWith(line));
  t.is(spool.memory.used, 0);
});

test('sizes around what is kept in memory, several at a time, dots and all', async (t) => {
  const { address, stored, spool } = await listen(t);
  const line = `.${'y'.repeat(74)}.\r\n`;
  await Promise.all(
    [262_000, 262_144, 262_145, 327_680, 400_000, 900_000].map(async (size) => {
      const client = await SmtpClient.greeted(address);
      const body = `Subject: ${size}\r\n\r\n${line.repeat(size / line.length)}`;
      await client.envelope('', 'alice@example.test');
      client.write(`${body.replaceAll('\r\n.', '\r\n..')}.\r\n`);
      t.is((await client.reply()).code, 250);
      t.true(stored.some((message) => message.body === body));
    }),
  );
  t.is(spool.memory.used, 0);
});

test('too large: while reading, far beyond, and announced', async (t) => {
  const { address, stored, spool } = await listen(t, { maxMessageSize: 1000 });
  const client = await SmtpClient.greeted(address);
  const text = `${'x'.repeat(98)}\r\n`;
  await client.envelope('a@peer.test', 'alice@example.test');
  client.write(`${text.repeat(11)}.\r\n`);
  t.regex((await client.reply()).text, /^5\.3\.4 /);
  t.is((await client.send('a@peer.test', ['alice@example.test'], text.repeat(9).slice(0, -2))).code, 250);
  await client.envelope('a@peer.test', 'alice@example.test');
  client.write(text.repeat(20_000));
  const [reply, ...rest] = await client.rest();
  t.is(`${reply?.code} ${reply?.text.split(' ')[0]}`, '552 5.3.4');
  t.is(rest.length, 0);
  t.is(stored.length, 1);
  t.is(spool.memory.used, 0);
});

test('loops: too many Received, Delivered-To of a recipient', async (t) => {
  const { address, stored } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const received = (n: number) =>
    `${'Received: from a by b; Thu, 1 Jan 2026 00:00:00 +0000\r\n'.repeat(n)}Subject: x\r\n\r\n`;
  t.regex((await client.send('', ['alice@example.test'], received(51))).text, /^5\.4\.6 /);
  t.is((await client.send('', ['alice@example.test'], received(50))).code, 250);
  const passed = 'Delivered-To: Alice@Example.test\r\nSubject: x\r\n\r\nhi';
  t.regex((await client.send('', ['bob@example.test', 'alice@example.test'], passed)).text, /^5\.4\.6 /);
  t.is((await client.send('', ['bob@example.test'], passed)).code, 250);
  t.is(stored.length, 2);
});

test('a sender may have an underscore in its domain, and no address characters that are not seen', async (t) => {
  const { address } = await listen(t);
  const client = await SmtpClient.greeted(address);
  const codes: string[] = [];
  for (const line of ['MAIL FROM:<a@x_y.test>', 'RCPT TO:<alice@x_y.test>', 'RCPT TO:<alice@example.test>', 'RSET']) {
    const { code, text } = await client.command(line);
    codes.push(`${code} ${text.split(' ')[0]}`);
  }
  t.deepEqual(codes, ['250 2.1.0', '501 5.1.3', '250 2.1.5', '250 2.0.0']);
  for (const sender of ['a\u202eb@c.test', 'a\u2066@c.test', 'a@c\u202e.test', 'a@b\u2460.test'])
    t.is((await client.command(`MAIL FROM:<${sender}> SMTPUTF8`)).code, 501, sender);
  await client.command('MAIL FROM:<a@b.test> SMTPUTF8');
  for (const recipient of ['alice\u202e@example.test', 'alice@ex\u2460mple.test'])
    t.is((await client.command(`RCPT TO:<${recipient}>`)).code, 501, recipient);
});

test('an unknown address gets its mailbox with the message, none when it never comes', async (t) => {
  const { address, stored, behave } = await listen(t);
  const beside: (readonly string[])[] = [];
  const held: (readonly string[])[] = [];
  behave.recipient = async (name, others = []) => {
    beside.push(others);
    return name.startsWith('new') ? { kind: 'unclaimed', address: name } : { kind: 'mailbox', accountId: name };
  };
  behave.openUnclaimed = async (addresses) => {
    held.push(addresses);
    return new Map(addresses.map((name) => [name, `held-${name}`]));
  };
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<a@peer.test>');
  for (const name of ['new1@example.test', 'alice@example.test', 'new2@example.test']) {
    t.is((await client.command(`RCPT TO:<${name}>`)).code, 250);
  }
  t.deepEqual(beside, [[], ['new1@example.test'], ['new1@example.test']]);
  await client.command('RSET');
  t.deepEqual(held, []);
  const names = ['new1@example.test', 'alice@example.test'];
  t.is((await client.send('a@peer.test', names, MESSAGE)).code, 250);
  t.deepEqual(held, [['new1@example.test']]);
  t.deepEqual(
    stored[0]!.deliveries.map((delivery) => delivery.accountId),
    ['held-new1@example.test', 'alice@example.test'],
  );
});

test('a message with an address that cannot be held after all is refused whole, for now', async (t) => {
  const { address, stored, behave } = await listen(t);
  behave.recipient = async (name) =>
    name.startsWith('new') ? { kind: 'unclaimed', address: name } : { kind: 'mailbox', accountId: name };
  behave.openUnclaimed = async () => undefined;
  const client = await SmtpClient.greeted(address);
  const reply = await client.send('a@peer.test', ['alice@example.test', 'new@example.test'], MESSAGE);
  t.is(reply.code, 450);
  t.regex(reply.text, /^4\.2\.1 /);
  t.is(stored.length, 0);
});

test('an alias brings the message to each of its mailboxes once, and a loop of aliases is refused', async (t) => {
  const { address, stored, behave } = await listen(t);
  const team = ['alice', 'bob', 'held-new'].map((accountId) => ({ kind: 'mailbox' as const, accountId }));
  behave.openUnclaimed = async (addresses) => new Map(addresses.map((name) => [name, `held-${name}`]));
  behave.recipient = async (name) => {
    if (name.startsWith('loop')) return { kind: 'loop' };
    if (name.startsWith('alice')) return team[0]!;
    return { kind: 'several', mailboxes: [...team.slice(0, 2), { kind: 'unclaimed', address: 'new' }] };
  };
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<a@peer.test>');
  const loop = await client.command('RCPT TO:<loop@example.test>');
  t.is(loop.code, 554);
  t.regex(loop.text, /^5\.4\.6 /);
  await client.command('RSET');
  t.is((await client.send('a@peer.test', ['team@example.test', 'alice@example.test'], MESSAGE)).code, 250);
  t.deepEqual(
    stored[0]!.deliveries.map(({ accountId }) => accountId),
    team.map(({ accountId }) => accountId),
  );
});

test('one message goes to a thousand mailboxes, and the peer sends to further ones later', async (t) => {
  const { address, behave } = await listen(t);
  const mailboxes = Array.from({ length: 1_000 }, (_, i) => ({ kind: 'mailbox' as const, accountId: `a${i}` }));
  behave.recipient = async (name) => (name.startsWith('all') ? { kind: 'several', mailboxes } : mailboxes[0]!);
  const client = await SmtpClient.greeted(address);
  await client.command('MAIL FROM:<a@peer.test>');
  const rcpt = async (name: string) => (await client.command(`RCPT TO:<${name}@example.test>`)).code;
  t.deepEqual([await rcpt('all'), await rcpt('one')], [250, 452]);
  await client.command('RSET');
  await client.command('MAIL FROM:<a@peer.test>');
  t.deepEqual([await rcpt('one'), await rcpt('all')], [250, 452]);
});
