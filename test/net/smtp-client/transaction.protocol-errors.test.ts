// Tests servers that break RFC 5321, where a lenient client would count a message as delivered or lose it: each case is a
// protocol error, which is temporary, and the connection is not used again.
import type { Socket } from 'node:net';
import { scripted } from '../../../dev/servers/remote-smtp.js';
import test from '../../support/test.js';
import { kinds, only, world } from './client-world.js';

const ZONES = { 'one.test': { MX: [[10, 'mx.one.test']] }, 'mx.one.test': { A: ['127.0.0.2'] } } as const;
const EHLO = ['250 scripted', '250-scripted\r\n250 PIPELINING'] as const;
const MESSAGE = 'Subject: x\r\n\r\nMAIL FROM:<smuggled@one.test>\r\nQUIT\r\n';

/** Plays `replies` and collects what the client sends. */
function listening(replies: Readonly<Record<string, string>>) {
  const heard: string[] = [];
  const talk = (socket: Socket) => {
    scripted(replies)(socket);
    socket.on('data', (text: string) => heard.push(text));
  };
  return { heard, talk };
}

for (const ehlo of EHLO) {
  for (const answer of ['250 ok', '200 ok', '251 ok', '300 go', '353 go', '3540 go']) {
    test(`${answer} to DATA asks for no message (${ehlo.includes('PIPELINING') ? 'pipelined' : 'one by one'})`, async (t) => {
      const { bare, deliver } = await world(t, { zones: ZONES });
      const { heard, talk } = listening({ EHLO: ehlo, DATA: answer });
      const server = await bare('127.0.0.2', talk);
      t.is(only(await deliver('one.test', ['b'], MESSAGE)), 'temporary 4.5.0');
      t.false(heard.join('').includes('smuggled'), 'no octet of the message was sent');
      await deliver('one.test', ['b'], MESSAGE);
      t.is(server.connections, 2, 'the connection is not used again');
    });
  }
}

test('a server that refuses every recipient and takes DATA with 250 is not used again; the refusals stand', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES });
  const server = await bare('127.0.0.2', scripted({ EHLO: EHLO[1], RCPT: '550 5.1.1 no', DATA: '250 ok' }));
  t.is(only(await deliver('one.test')), 'permanent 5.1.1');
  t.is(only(await deliver('one.test')), 'permanent 5.1.1');
  t.is(server.connections, 2);
});

test('a reply that comes before its command is a protocol error, in every phase', async (t) => {
  const early: readonly Readonly<Record<string, string>>[] = [
    { greeting: '220 hello\r\n250 early' },
    { EHLO: '250 scripted\r\n250 early' },
    { MAIL: '250 ok\r\n250 early' },
    { RCPT: '250 ok\r\n354 early' },
    { DATA: '354 go\r\n250 early' },
    { DATA: '354 go\r\n250-early\r\n250 early' },
    // The second reply is in the same segment, without its end.
    { DATA: '354 go\r\n250 ear' },
    { EHLO: EHLO[1], DATA: '354 go\r\n250 early' },
    { EHLO: EHLO[1], RCPT: '250 ok\r\n250 ok\r\n354 early\r\n250 early' },
  ];
  for (const replies of early) {
    const { bare, deliver } = await world(t, { zones: ZONES });
    const server = await bare('127.0.0.2', scripted({ DATA: '354 go', ...replies }));
    const report = await deliver('one.test');
    t.is(only(report), 'temporary 4.5.0', JSON.stringify(replies));
    t.regex(report.outcomes[0]!.text, /before its command/, JSON.stringify(replies));
    await server.close();
  }
});

test('421 may come at any time', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES });
  await bare('127.0.0.2', scripted({ MAIL: '250 ok\r\n421 4.3.2 bye' }));
  t.is(only(await deliver('one.test')), 'temporary 4.3.2');
});

/** Matches replies with something after the line that ends the first one. */
const WITH_MORE = /(?:^|\n)(?:\d{3} .*|\d{3}[a-z]+)\r\n/;

const VERDICTS: readonly (readonly [reply: string, outcome: string])[] = [
  ['250 ok\r\n250 ok', 'delivered 2.0.0'],
  ['250 ok\r\n550 x', 'delivered 2.0.0'],
  ['250 ok\r\n550-x', 'delivered 2.0.0'],
  ['250 ok\r\n550-x\r\n421 y', 'delivered 2.0.0'],
  ['250 ok\r\n421 bye', 'delivered 2.0.0'],
  ['250 ok\r\nno reply at all', 'delivered 2.0.0'],
  ['250-ok\r\n250 ok\r\n250 ok', 'delivered 2.0.0'],
  ['250-ok\r\n251 ok', 'delivered 2.0.0'],
  ['250ok', 'delivered 2.0.0'],
  [`250 ok\r\n${'x'.repeat(300_000)}`, 'delivered 2.0.0'],
  [`250 ok\r\n${'250-x\r\n'.repeat(50_000)}`, 'delivered 2.0.0'],
  ['550 no\r\n550 no', 'permanent 5.6.0'],
  ['550 no\r\n250 ok', 'permanent 5.6.0'],
  ['550-5.7.1 no\r\n554 5.7.1 no', 'permanent 5.7.1'],
  ['451 later\r\n250 ok', 'temporary 4.3.0'],
];

for (const [reply, outcome] of VERDICTS) {
  test(`the first complete reply to the message is the verdict: ${JSON.stringify(reply.slice(0, 40))}`, async (t) => {
    const { bare, deliver } = await world(t, { zones: ZONES });
    // The segment also contains the start of the next reply.
    for (const end of ['', '\r\n25']) {
      const server = await bare('127.0.0.2', scripted({ DATA: '354 go', message: `${reply}${end}` }));
      t.is(only(await deliver('one.test')), outcome);
      const isMore = end !== '' || WITH_MORE.test(reply);
      await deliver('one.test');
      t.is(server.connections, isMore ? 2 : 1, 'a connection that said more than its reply is not used again');
      await server.close();
    }
  });
}

test('refusals that come before a reply of two classes stand', async (t) => {
  const { bare, deliver } = await world(t, { zones: ZONES });
  await bare('127.0.0.2', scripted({ EHLO: EHLO[1], RCPT: '550 5.1.1 no', DATA: '354-go\r\n550 stop' }));
  t.is(only(await deliver('one.test')), 'permanent 5.1.1');
});

test('a reply whose lines have codes of different classes is a protocol error, in every phase', async (t) => {
  const mixed: readonly Readonly<Record<string, string>>[] = [
    { greeting: '220-hello\r\n554 go away' },
    { EHLO: '250-scripted\r\n550 PIPELINING' },
    { MAIL: '250-ok\r\n550 no' },
    { RCPT: '250-ok\r\n550 no' },
    { RCPT: '550-no\r\n250 ok' },
    { DATA: '354-go\r\n250 on' },
    { message: '250-taken\r\n550 refused' },
    { message: '550-refused\r\n250 taken' },
    { message: '250-taken\r\nwithout a code' },
    { EHLO: EHLO[1], message: '250-taken\r\n451 not yet' },
  ];
  for (const replies of mixed) {
    const { bare, deliver } = await world(t, { zones: ZONES });
    const server = await bare('127.0.0.2', scripted({ DATA: '354 go', ...replies }));
    t.is(only(await deliver('one.test')), 'temporary 4.5.0', JSON.stringify(replies));
    await server.close();
  }
});

test('552 to RCPT is 452: the rest is asked for in a further transaction, or later', async (t) => {
  const { remote, deliver } = await world(t, { zones: ZONES });
  const server = await remote('127.0.0.2', {
    behaviour: {
      rcpt: (address, session) => {
        if (address.startsWith('full')) return '552 5.2.2 mailbox full';
        return session.envelope.rcptTo.length >= 2 ? '552 too many recipients' : undefined;
      },
    },
  });
  t.deepEqual(kinds(await deliver('one.test', ['full', 'a', 'b', 'c', 'd', 'e'])), {
    full: 'temporary 4.2.2',
    a: 'delivered 2.0.0',
    b: 'delivered 2.0.0',
    c: 'delivered 2.0.0',
    d: 'delivered 2.0.0',
    e: 'delivered 2.0.0',
  });
  t.deepEqual(
    server.messages.map(({ recipients }) => recipients.length),
    [2, 2, 1],
  );
});
