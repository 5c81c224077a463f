// Tests a session from its greeting to QUIT: states, arguments, listings, deletion marks, and what each end of a session deletes.

import { table } from '../../../src/gateways/pop3/table.js';
import { NO_TOKENS } from '../../support/no-tokens.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import { ALICE, BOB, startPop3 } from './gateway.js';

const NUMBERS = {
  ONE: 'Subject: one\r\n\r\n1\r\n',
  TWO: 'Subject: two\r\n\r\n22\r\n',
  THREE: 'Subject: 3\r\n\r\n333\r\n',
};
const { ONE, TWO, THREE } = NUMBERS;
const SUM = ONE.length + TWO.length + THREE.length;

test('the greeting announces no APOP, and names no version', async (t) => {
  const gateway = await startPop3(t);
  const client = await gateway.open();
  t.is(await client.command('NOOP'), '+OK Nothing done');
  const before = await (await gateway.connect()).listing('CAPA');
  t.false(/[<>]|1\.2\.3/.test(before));
});

test('mechanisms for tokens are announced where an identity provider is configured', async (t) => {
  const client = await (await startPop3(t, { tokens: NO_TOKENS })).connect();
  t.true((await client.listing('CAPA')).includes('\r\nSASL PLAIN LOGIN OAUTHBEARER XOAUTH2\r\n'));
  t.is(await client.listing('AUTH'), '+OK Mechanisms follow\r\nPLAIN\r\nLOGIN\r\nOAUTHBEARER\r\nXOAUTH2\r\n');
});

test('capabilities are those of the state', async (t) => {
  const gateway = await startPop3(t, { allowPlaintextAuth: false });
  const client = await gateway.connect();
  const always = ['TOP', 'UIDL', 'RESP-CODES', 'AUTH-RESP-CODE', 'PIPELINING', 'LOGIN-DELAY 0', 'EXPIRE NEVER'];
  const capa = async () => (await client.listing('capa')).split('\r\n').slice(1, -1).sort();
  const last = ['UTF8 USER', 'LANG'];
  t.deepEqual(await capa(), [...always, ...last, 'STLS', 'IMPLEMENTATION Mansio'].sort());
  await client.startTls();
  const logins = ['USER', 'SASL PLAIN LOGIN'];
  t.deepEqual(await capa(), [...always, ...last, ...logins, 'IMPLEMENTATION Mansio'].sort());
  await client.command('USER alice@example.test');
  t.regex(await client.command('PASS alice-key'), /^\+OK/);
  t.deepEqual(await capa(), [...always, ...last, 'IMPLEMENTATION Mansio-1.2.3'].sort());
});

test('every command is refused in the other state, and with too few or too many arguments', async (t) => {
  const gateway = await startPop3(t, { limits: { errors: 1_000 } });
  const [bare, open] = [await gateway.connect(), await gateway.open()];
  for (const { name, states, takes } of table.values()) {
    if (!states.includes('authorization')) t.is(await bare.command(name), '-ERR Log in first');
    if (!states.includes('transaction')) t.is(await open.command(name), '-ERR Already logged in');
    const client = states.includes('transaction') ? open : bare;
    const [least, most] = takes === 'text' ? [1, Number.POSITIVE_INFINITY] : takes;
    if (least > 0) t.is(await client.command(`${name}${' 1'.repeat(least - 1)}`), '-ERR Wrong arguments');
    if (most < 10) t.is(await client.command(`${name}${' 1'.repeat(most + 1)}`), '-ERR Wrong arguments');
  }
  t.is(await open.command('APOP alice c4c9334bac560ecc979e58001b3e22fb'), '-ERR Unknown command');
  t.is(await open.command(''), '-ERR Unknown command');
  t.is(await open.command('XYZZY'), '-ERR Unknown command');
  open.write(Buffer.from('RETR \xff\r\n', 'latin1'));
  t.is(await open.line(), '-ERR The line is not UTF-8');
  t.is(await open.command('stat  '), '+OK 0 0');
});

test('an empty maildrop has empty listings', async (t) => {
  const client = await (await startPop3(t)).open();
  t.is(await client.command('STAT'), '+OK 0 0');
  t.is(await client.listing('LIST'), '+OK 0 messages (0 octets)\r\n');
  t.is(await client.listing('UIDL'), '+OK Unique ids follow\r\n');
  t.is(await client.command('RETR 1'), '-ERR No such message');
});

test('listings have the numbers, octets and ids of what is not marked', async (t) => {
  const gateway = await startPop3(t);
  const ids = [
    await gateway.deliver(ALICE, ONE),
    await gateway.deliver(ALICE, TWO),
    await gateway.deliver(ALICE, THREE),
  ];
  await gateway.deliver(BOB, 'Subject: of bob\r\n\r\n');
  const client = await gateway.open();
  t.is(await client.command('STAT'), `+OK 3 ${SUM}`);
  t.is(
    await client.listing('LIST'),
    `+OK 3 messages (${SUM} octets)\r\n1 ${ONE.length}\r\n2 ${TWO.length}\r\n3 ${THREE.length}\r\n`,
  );
  t.is(await client.listing('UIDL'), `+OK Unique ids follow\r\n1 ${ids[0]}\r\n2 ${ids[1]}\r\n3 ${ids[2]}\r\n`);
  t.is(await client.command('UIDL 3'), `+OK 3 ${ids[2]}`);
  t.is(await client.command('LIST 2'), `+OK 2 ${TWO.length}`);
  t.is(await client.command('DELE 2'), '+OK Marked for deletion');
  for (const line of ['DELE 2', 'LIST 2', 'UIDL 2', 'RETR 2', 'TOP 2 0']) {
    t.is(await client.command(line), '-ERR No such message');
  }
  t.is(await client.command('STAT'), `+OK 2 ${ONE.length + THREE.length}`);
  t.is(await client.listing('UIDL'), `+OK Unique ids follow\r\n1 ${ids[0]}\r\n3 ${ids[2]}\r\n`);
  t.is(await client.command('RSET'), '+OK No message is marked for deletion');
  t.is(await client.command('STAT'), `+OK 3 ${SUM}`);
  for (const [line, reply] of [
    ['RETR 0', '-ERR No such message'],
    ['RETR 4', '-ERR No such message'],
    ['RETR 9999999999', '-ERR No such message'],
    ['RETR -1', '-ERR A number is expected'],
    ['RETR 1x', '-ERR A number is expected'],
    ['LIST one', '-ERR A number is expected'],
    ['TOP 1 -1', '-ERR A number is expected'],
  ] as const) {
    t.is(await client.command(line), reply);
  }
});

test('QUIT deletes what is marked, in one change, and the ids of the others stay', async (t) => {
  const gateway = await startPop3(t);
  const ids = [
    await gateway.deliver(ALICE, ONE),
    await gateway.deliver(ALICE, TWO),
    await gateway.deliver(ALICE, THREE),
  ];
  const client = await gateway.open();
  await client.command('DELE 1');
  await client.command('DELE 3');
  const before = gateway.mailboxes.account(ALICE).modseq;
  t.is(await client.command('QUIT'), '+OK 2 messages deleted, bye');
  t.is(await client.rest(), '');
  t.is(gateway.mailboxes.account(ALICE).modseq, before + 1);
  t.deepEqual([...gateway.mailboxes.account(ALICE).emails.keys()], [ids[1]]);
  const again = await gateway.open();
  t.is(await again.listing('UIDL'), `+OK Unique ids follow\r\n1 ${ids[1]}\r\n`);
  t.is(await again.command('QUIT'), '+OK Bye');
});

test('a session that ends in any other way deletes nothing, and its maildrop is free at once', async (t) => {
  const gateway = await startPop3(t, { limits: { errors: 3 } });
  for (const text of [ONE, TWO]) await gateway.deliver(ALICE, text);
  const dropped = await gateway.open();
  await dropped.command('DELE 1');
  dropped.close();
  const reset = await gateway.reopen();
  await reset.command('DELE 1');
  reset.socket.resetAndDestroy();
  const halfClosed = await gateway.reopen();
  await halfClosed.command('DELE 1');
  halfClosed.socket.end();
  await halfClosed.rest();
  const cutOff = await gateway.reopen();
  t.is(await cutOff.command('DELE 1'), '+OK Marked for deletion');
  for (const _ of [1, 2, 3]) t.is(await cutOff.command('XYZZY'), '-ERR Unknown command');
  await cutOff.rest();
  const last = await gateway.reopen();
  t.is(await last.command('STAT'), `+OK 2 ${ONE.length + TWO.length}`);
  t.is(gateway.mailboxes.account(ALICE).emails.size, 2);
});

test('QUIT is carried out when the connection ends behind it', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, ONE);
  const client = await gateway.open();
  client.write('DELE 1\r\nQUIT\r\n');
  client.socket.end();
  t.is(await client.rest(), '+OK Marked for deletion\r\n+OK 1 messages deleted, bye\r\n');
  t.is(gateway.mailboxes.account(ALICE).emails.size, 0);
});

test('a session sees the inbox as it was when the session began', async (t) => {
  const gateway = await startPop3(t);
  const first = await gateway.deliver(ALICE, ONE);
  await gateway.deliver(ALICE, TWO);
  const client = await gateway.open();
  await gateway.deliver(ALICE, THREE);
  const mailbox = gateway.mailboxes.refs.of(ALICE);
  await mailbox.ask('remove', { emailIds: [first] });
  t.is(await client.command('STAT'), `+OK 2 ${ONE.length + TWO.length}`);
  t.is(await client.command('RETR 1'), '-ERR The message is gone');
  t.is(await client.listing('RETR 2'), `+OK ${TWO.length} octets\r\n${TWO}`);
  for (const number of [1, 2]) await client.command(`DELE ${number}`);
  t.is(await client.command('QUIT'), '+OK 2 messages deleted, bye');
  const again = await gateway.open();
  t.is(await again.listing('RETR 1'), `+OK ${THREE.length} octets\r\n${THREE}`);
});

test('a maildrop of several pages is one, and is deleted in several parts when it must be', async (t) => {
  const gateway = await startPop3(t);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await gateway.deliver(ALICE, `Subject: ${i}\r\n\r\n`));
  const { refs, actors } = gateway.mailboxes;
  await refs.of(ALICE).ask('remove', { emailIds: [ids[2]!] });
  const mailbox = actors.of(ALICE);
  gateway.mailboxes.hook('maildropPage', (payload: { fromUid: number; belowUid: number }) =>
    mailbox.ask('maildropPage', { ...payload, limit: 2 }),
  );
  let parts = 0;
  gateway.mailboxes.hook('quitMaildrop', async (_, proceed) => {
    const outcome = (await proceed()) as { readonly reply: object };
    return ++parts < 3 ? { reply: { ...outcome.reply, isComplete: false } } : outcome;
  });
  const client = await gateway.open();
  const listed = [ids[0], ids[1], ids[3], ids[4]].map((id, i) => `${i + 1} ${id}\r\n`);
  t.is(await client.listing('UIDL'), `+OK Unique ids follow\r\n${listed.join('')}`);
  t.is(gateway.mailboxes.asked.filter(({ name }) => name === 'maildropPage').length, 2);
  for (const number of [1, 2, 4]) await client.command(`DELE ${number}`);
  t.is(await client.command('QUIT'), '+OK 3 messages deleted, bye');
  t.is(parts, 3);
  t.deepEqual([...gateway.mailboxes.account(ALICE).emails.keys()], [ids[3]]);
});

test('what is fetched stays unread, and an email with a label stays there', async (t) => {
  const gateway = await startPop3(t);
  const emailId = await gateway.deliver(ALICE, ONE);
  const mailbox = gateway.mailboxes.refs.of(ALICE);
  const label = (await mailbox.ask('createLabel', { name: 'Kept', color: '#112233', sortOrder: 0 })).reply!;
  await mailbox.ask('assignLabel', { emailId, labelId: label.id });
  const client = await gateway.open();
  await client.listing('RETR 1');
  t.is((await mailbox.ask('unreadCount', {})).reply!.unread, 1);
  await client.command('DELE 1');
  await client.command('QUIT');
  const { items } = (await mailbox.ask('labelEmails', { labelId: label.id, page: 1, pageSize: 9 })).reply!;
  t.deepEqual(
    items.map(({ id }) => id),
    [emailId],
  );
  t.is(await (await gateway.open()).command('STAT'), '+OK 0 0');
});

test('pipelined commands are answered in their order, also behind the login', async (t) => {
  const gateway = await startPop3(t);
  for (const text of [ONE, TWO]) await gateway.deliver(ALICE, text);
  const client = await gateway.connect();
  client.write(
    'USER alice@example.test\r\nPASS alice-key\r\nSTAT\r\nRETR 1\r\nDELE 1\r\nRETR 2\r\nTOP 2 0\r\nQUIT\r\n',
  );
  t.is(
    await client.rest(),
    [
      '+OK Send the password',
      `+OK Logged in, 2 messages (${ONE.length + TWO.length} octets)`,
      `+OK 2 ${ONE.length + TWO.length}`,
      `+OK ${ONE.length} octets\r\n${ONE}.`,
      '+OK Marked for deletion',
      `+OK ${TWO.length} octets\r\n${TWO}.`,
      '+OK The top of the message follows\r\nSubject: two\r\n\r\n.',
      '+OK 1 messages deleted, bye',
      '',
    ].join('\r\n'),
  );
});

test('a session cut at every octet of its commands goes on', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, ONE);
  const script = 'USER alice@example.test\r\nPASS alice-key\r\nRETR 1\r\nRSET\r\nQUIT\r\n';
  const whole = (await gateway.connect()).write(script);
  const expected = await whole.rest();
  t.regex(expected, /Bye\r\n$/);
  for (let at = 1; at < script.length; at++) {
    const client = await gateway.connect();
    client.write(script.slice(0, at));
    await turn();
    client.write(script.slice(at));
    t.is(await client.rest(), expected);
  }
});

test('a session dropped behind every octet of its commands frees the maildrop and deletes nothing before QUIT', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, ONE);
  const script = 'USER alice@example.test\r\nPASS alice-key\r\nDELE 1\r\nRETR 1\r\nQUIT';
  for (let at = 1; at <= script.length; at++) {
    const client = await gateway.connect();
    client.write(script.slice(0, at));
    client.socket.end();
    await client.rest();
    t.is(gateway.mailboxes.account(ALICE).emails.size, 1);
  }
  await gateway.open();
});

test('LANG lists one language, and UTF8 comes before the login and after STLS', async (t) => {
  const gateway = await startPop3(t);
  const client = await gateway.connect();
  t.is(await client.listing('LANG'), '+OK Languages follow\r\nen English\r\n');
  for (const tag of ['en', 'EN', '*', 'en-GB']) t.is(await client.command(`LANG ${tag}`), '+OK en English');
  t.is(await client.command('LANG tlh'), '-ERR Texts are in English alone');
  t.is(await client.command('UTF8'), '+OK UTF8 is enabled');
  t.is(await client.command('STLS'), '-ERR STLS comes before UTF8');
  await client.command('USER alice@example.test');
  t.regex(await client.command('PASS alice-key'), /^\+OK/);
  t.is(await client.command('UTF8'), '-ERR Already logged in');
  t.is(await client.command('LANG en'), '+OK en English');
});
