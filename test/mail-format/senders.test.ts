// Tests lists of senders: what names a sender, and which name counts.
import { canonicalSender, ListedSenders } from '../../src/mail-format/senders.js';
import test from '../support/test.js';

test('addresses and domains have one form', (t) => {
  const forms = {
    'Ann@Example.TEST': 'ann@example.test',
    ' ann@example.test ': 'ann@example.test',
    'Example.test': 'example.test',
    '@example.test': 'example.test',
    'ann@bücher.test': 'ann@xn--bcher-kva.test',
    'bücher.test': 'xn--bcher-kva.test',
    test: 'test',
  };
  for (const [text, form] of Object.entries(forms)) t.is(canonicalSender(text), form, text);
  for (const text of ['', '@', 'a b', 'ann@', 'ann@@example.test', 'a\u200b.test', '*.test', 'x'.repeat(300)])
    t.is(canonicalSender(text), undefined, text);
});

test('a domain covers what is below it, and the most exact name counts', (t) => {
  const senders = new ListedSenders({
    allowed: ['ann@spam.test', 'good.spam.test'],
    blocked: ['spam.test', 'bob@example.test'],
  });
  const verdicts = {
    'x@spam.test': 'blocked',
    'X@Deep.SPAM.test': 'blocked',
    'Ann@spam.test': 'allowed',
    'ann@deep.spam.test': 'blocked',
    'x@a.good.spam.test': 'allowed',
    'BOB@example.test': 'blocked',
    'ann@example.test': undefined,
    'x@notspam.test': undefined,
    'no address': undefined,
    '': undefined,
  };
  for (const [address, verdict] of Object.entries(verdicts))
    t.is(senders.verdictOf(address), verdict as never, address);
  t.is(new ListedSenders({ allowed: [], blocked: [] }).verdictOf('x@spam.test'), undefined);
});
