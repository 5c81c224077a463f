// Tests envelope fields as real mail has them.

import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { summarize } from '../../../src/mail-format/summary.js';
import test from '../../support/test.js';
import { caseIndex } from '../cases.js';

const envelope = (header: string) => indexMessage(Buffer.from(`${header}\r\n\r\n`)).envelope;
const to = (field: string) => envelope(`To: ${field}`).to.map(({ name, address }) => `${name}|${address}`);

test('address lists', (t) => {
  t.deepEqual(to('a@b'), ['|a@b']);
  t.deepEqual(to('Ann Lee <a@b>'), ['Ann Lee|a@b']);
  t.deepEqual(to('"Lee, Ann" <a@b>,\r\n\t<c@d>'), ['Lee, Ann|a@b', '|c@d']);
  t.deepEqual(to('a@b (Ann (Annie) Lee), c@d'), ['Ann (Annie) Lee|a@b', '|c@d']);
  t.deepEqual(to('=?utf-8?Q?Lee=2C_Ann?= <a@b>'), ['Lee, Ann|a@b']);
  t.deepEqual(to('"=?utf-8?B?w4RubmU=?=" <a@b>'), ['Änne|a@b']);
  t.deepEqual(to('undisclosed-recipients:;'), ['undisclosed-recipients|']);
  t.deepEqual(to('A: b@c, "D" <d@e>; f@g'), ['A|', '|b@c', 'D|d@e', '|f@g']);
  t.deepEqual(to('"a b"@c.d, <"e f"@g.h>'), ['|"a b"@c.d', '|"e f"@g.h']);
  t.deepEqual(to('<@r1,@r2:u@d>, john . doe @ ex . com'), ['|u@d', '|john.doe@ex.com']);
  t.deepEqual(to('a@[192.0.2.1], Ann a@b.c'), ['|a@[192.0.2.1]', 'Ann|a@b.c']);
  t.deepEqual(to('a@b, , <>, c@d,'), ['|a@b', '|c@d']);
  t.deepEqual(to('"Ann <a@b>'), ['|"Ann <a@b>']);
});

test('comments and white space within addresses (RFC 5322 A.5, A.6)', (t) => {
  t.deepEqual(to('pat(her account)@silly.test(her host)'), ['her host|pat@silly.test']);
  t.deepEqual(to('Pat(a nice \\) zebra) <pat(her account)@silly.test(her host)>'), ['Pat|pat@silly.test']);
  t.deepEqual(to('<(a)pat(b)(c)@(d (e))silly(f).(g)test(h)>'), ['|pat@silly.test']);
  t.deepEqual(to('c@(the host.)public.example, joe.(x)public @ (y) a . (z) b'), [
    '|c@public.example',
    '|joe.public@a.b',
  ]);
  t.deepEqual(to('jdoe@test  . example'), ['|jdoe@test.example']);
  t.deepEqual(to('jdoe@machine(comment).  example (Name)'), ['Name|jdoe@machine.example']);
  t.deepEqual(to('"a ( b"(x)@(y)c.d, <"a . b" @ c . d>'), ['|"a ( b"@c.d', '|"a . b"@c.d']);
  t.deepEqual(to('John Q. Public jdoe@b.test'), ['John Q. Public|jdoe@b.test']);
  t.deepEqual(
    to(
      "A Group(Some people)\r\n     :Chris <c@(Chris's host.)public.example>,\r\n joe@example.org,\r\n  John <jdoe@one.test> (my dear friend); (the end of the group)",
    ),
    ['A Group|', 'Chris|c@public.example', '|joe@example.org', 'John|jdoe@one.test'],
  );
  t.deepEqual(to('(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;'), ['Hidden recipients|']);
  t.deepEqual(to('Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example'), [
    'Mary Smith|mary@example.net',
    '|jdoe@test.example',
  ]);
  // An unclosed parenthesis within angle brackets is no comment.
  t.deepEqual(to('<a(b@c.d>, e@f.g'), ['|a(b@c.d', '|e@f.g']);
  const { from, to: sent, cc } = caseIndex('comments-in-addresses').envelope;
  t.deepEqual(from, [{ name: 'Pat', address: 'pat@silly.test' }]);
  t.deepEqual(
    [...sent, ...cc].map(({ address }) => address).filter((address) => address !== ''),
    ['alice@example.test', 'jd@test.example', 'c@public.example', 'joe@example.org'],
  );
});

test('obsolete syntax everywhere (RFC 5322 A.6.3)', (t) => {
  const made = envelope(
    [
      'From  : John Doe <jdoe@machine(comment).  example>',
      'To    : Mary Smith',
      '  ',
      '          <mary@example.net>',
      'Subject     : Saying Hello',
      'Date  : Fri, 21 Nov 1997 09(comment):   55  :  06 -0600',
      'Message-ID  : <1234   @   local(blah)  .machine .example>',
    ].join('\r\n'),
  );
  t.deepEqual(made.from, [{ name: 'John Doe', address: 'jdoe@machine.example' }]);
  t.deepEqual(made.to, [{ name: 'Mary Smith', address: 'mary@example.net' }]);
  t.is(made.subject, 'Saying Hello');
  t.is(made.sentAt, Date.UTC(1997, 10, 21, 15, 55, 6));
  t.is(made.messageId, '<1234@local.machine.example>');
});

test('destination fields add up, others count once', (t) => {
  const made = envelope('To: a@b\r\nFrom: x@y\r\nTO: c@d\r\nfrom: z@z\r\nSubject : one\r\nSubject: two');
  t.is(made.to.length, 2);
  t.deepEqual(made.from, [{ name: '', address: 'x@y' }]);
  t.is(made.subject, 'one');
});

test('dates', (t) => {
  const at = (date: string) => envelope(`Date: ${date}`).sentAt;
  t.is(at('Sat, 21 Nov 2026 13:10:19 -0500 (EST)'), Date.UTC(2026, 10, 21, 18, 10, 19));
  t.is(at('21 Nov 26 13:10 GMT'), Date.UTC(2026, 10, 21, 13, 10));
  t.is(at('Sat, 21 Nov 2026 13:10:19'), Date.UTC(2026, 10, 21, 13, 10, 19));
  t.is(at('Sat Nov 21 13:10:19 2026'), Date.UTC(2026, 10, 21, 13, 10, 19));
  t.is(at('2026-11-21T13:10:19Z'), Date.UTC(2026, 10, 21, 13, 10, 19));
  t.is(at('hello 5'), null);
  t.is(at('31 Foo 2026 13:10'), null);
});

test('message ids', (t) => {
  const made = envelope('Message-ID: junk <a@b> x\r\nIn-Reply-To: c@d\r\nReferences: <1@x><2@x>\r\n <3@x> junk');
  t.is(made.messageId, '<a@b>');
  t.is(made.inReplyTo, '<c@d>');
  t.deepEqual(made.references, ['<1@x>', '<2@x>', '<3@x>']);
  const many = envelope(`References: ${Array.from({ length: 150 }, (_, i) => `<${i}@x>`).join(' ')}`).references;
  t.deepEqual([many.length, many[0], many[1], many[99]], [100, '<0@x>', '<51@x>', '<149@x>']);
  t.is(envelope('Message-ID: nothing').messageId, null);
});

test('summary', (t) => {
  const raw = 'From: G: =?utf-8?Q?=C3=84nne?= <a@b>;\r\nSubject: s\r\nMessage-ID: <m@x>\r\n\r\nhello\r\nthere';
  t.deepEqual(summarize(indexMessage(Buffer.from(raw))), {
    messageId: '<m@x>',
    inReplyTo: null,
    references: [],
    fromAddress: 'a@b',
    fromName: 'Änne',
    subject: 's',
    preview: 'hello there',
    size: raw.length,
    hasAttachments: false,
    attachmentCount: 0,
  });
});
