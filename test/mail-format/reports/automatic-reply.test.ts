// Tests which mail is answered automatically, and the fields of the answer.
import fc from 'fast-check';
import { type AnsweredMail, answeredKey, automaticReply } from '../../../src/mail-format/reports/automatic-reply.js';
import test from '../../support/test.js';

type Fields = Readonly<Record<string, string>>;

const mail = (changes: Partial<Omit<AnsweredMail, 'values'>> = {}, fields: Fields = {}): AnsweredMail => ({
  sender: 'ann@remote.test',
  recipient: 'me@example.test',
  named: ['me@example.test'],
  author: 'ann@remote.test',
  subject: 'Hello',
  messageId: '<2@remote.test>',
  references: ['<1@remote.test>'],
  values: (name) => (fields[name.toLowerCase()] === undefined ? [] : [fields[name.toLowerCase()]!]),
  ...changes,
});
const OWN = { addresses: ['me@example.test', 'also@example.test'], subject: null, from: null };
const noneOf = (one: AnsweredMail) => {
  const reply = automaticReply(one, OWN);
  return 'none' in reply ? reply.none : undefined;
};

test('a person who writes to the account is answered from the address that was written to', (t) => {
  t.deepEqual(automaticReply(mail(), OWN), {
    from: 'me@example.test',
    to: 'ann@remote.test',
    subject: 'Auto: Hello',
    inReplyTo: '<2@remote.test>',
    references: ['<1@remote.test>', '<2@remote.test>'],
  });
  t.like(automaticReply(mail({ recipient: 'also+shop@example.test', named: ['ALSO+shop@Example.test'] }), OWN), {
    from: 'also+shop@example.test',
  });
  t.like(automaticReply(mail({ recipient: null }), OWN), { from: 'me@example.test' });
  t.like(automaticReply(mail({ messageId: null }), OWN), { inReplyTo: null, references: ['<1@remote.test>'] });
});

test('an alias that leads to the account counts as named', (t) => {
  t.is(noneOf(mail({ recipient: 'sales@example.test', named: ['x@y.test', 'sales@example.test'] })), undefined);
  t.is(noneOf(mail({ named: ['everybody@remote.test'] })), 'not named');
  t.is(noneOf(mail({ named: [] })), 'not named');
});

test('subject, author and addresses may be given, as a script does', (t) => {
  const given = { addresses: ['other@example.test'], subject: 'Away', from: 'Me <me@example.test>' };
  t.like(automaticReply(mail({ named: ['other@example.test'] }), given), {
    subject: 'Away',
    from: 'Me <me@example.test>',
  });
});

test('no answer goes to bounces, services, the account itself, and senders without an address', (t) => {
  t.is(noneOf(mail({ sender: '' })), 'null sender');
  for (const name of [
    'MAILER-DAEMON',
    'mailer-daemon',
    'owner-list',
    'list-request',
    'list-owner',
    'list-bounces',
    'list-bounces+me=example.test',
    'bounce+4f2a-me=example.test',
    'LISTSERV',
    'no-reply',
    'noreply',
    'do-not-reply',
  ])
    t.is(noneOf(mail({ sender: `${name}@remote.test` })), 'service', name);
  t.is(noneOf(mail({ sender: 'Me+x@example.test' })), 'own');
  t.is(noneOf(mail({ author: 'also@example.test' })), 'own');
  t.is(noneOf(mail({ sender: 'nonsense' })), 'own');
  for (const name of ['requester', 'ownership', 'replya', 'bouncer'])
    t.is(noneOf(mail({ sender: `${name}@remote.test` })), undefined, name);
});

test('no answer goes to automatic mail, lists, mass mail, and senders that ask for none', (t) => {
  t.is(noneOf(mail({}, { 'auto-submitted': 'auto-replied' })), 'automatic');
  t.is(noneOf(mail({}, { 'auto-submitted': 'auto-generated; x=y' })), 'automatic');
  t.is(noneOf(mail({}, { 'auto-submitted': '' })), 'automatic');
  t.is(noneOf(mail({}, { 'auto-submitted': 'No' })), undefined);
  t.is(noneOf(mail({}, { 'auto-submitted': ' no; (by hand)' })), undefined);
  for (const name of ['id', 'unsubscribe', 'post', 'help', 'archive', 'owner', 'subscribe'])
    t.is(noneOf(mail({}, { [`list-${name}`]: '<x>' })), 'list', name);
  for (const value of ['bulk', 'List', ' junk ']) t.is(noneOf(mail({}, { precedence: value })), 'list', value);
  t.is(noneOf(mail({}, { precedence: 'first-class' })), undefined);
  t.is(noneOf(mail({}, { 'x-auto-response-suppress': 'DR, OOF' })), 'suppressed');
  t.is(noneOf(mail({}, { 'x-auto-response-suppress': 'All' })), 'suppressed');
  t.is(noneOf(mail({}, { 'x-auto-response-suppress': 'DR' })), undefined);
});

test('an answer is never answered, and a subject does not grow with answers', (t) => {
  fc.assert(
    fc.property(fc.string(), (subject) => {
      const reply = automaticReply(mail({ subject }), OWN);
      if ('none' in reply) return t.fail();
      const again = automaticReply(mail({ subject: reply.subject }), OWN);
      t.is('none' in again ? '' : again.subject, reply.subject);
      t.is(noneOf(mail({ subject: reply.subject }, { 'auto-submitted': 'auto-replied' })), 'automatic');
    }),
  );
});

test('senders are remembered without regard to case', (t) => {
  t.is(answeredKey('Ann@Remote.test'), answeredKey('ann@remote.test'));
  t.not(answeredKey('ann@remote.test'), answeredKey('ben@remote.test'));
});
