// Tests what results of rspamd mean for a message.
import { verdictOf } from '../../../src/message-checks/rspamd/rspamd-result.js';
import test from '../../support/test.js';

const result = (more: object) => JSON.stringify({ action: 'no action', score: 1.5, required_score: 15, ...more });

test('actions of rspamd are verdicts; a doubtful score alone defers nothing', (t) => {
  const verdicts = [
    'no action',
    'greylist',
    'add header',
    'rewrite subject',
    'soft reject',
    'reject',
    'own action',
  ].map((action) => verdictOf(result({ action })).verdict);
  t.deepEqual(verdicts, ['accept', 'accept', 'junk', 'junk', 'defer', 'refuse', 'accept']);
  t.like(verdictOf(result({ action: 'greylist' })), { isDoubtful: true });
  t.false('isDoubtful' in verdictOf(result({ action: 'no action' })));
});

test('a refusal is 554 with the words of rspamd', (t) => {
  const messages = { smtp_message: 'Gtube pattern' };
  t.deepEqual(verdictOf(result({ action: 'reject', is_skipped: true, messages })), {
    verdict: 'refuse',
    reply: 'Gtube pattern',
    code: 554,
  });
  t.like(verdictOf(result({ action: 'soft reject', messages: { smtp_message: 'Greylisted' } })), {
    reply: 'Greylisted',
  });
  t.like(verdictOf(result({ action: 'reject', messages: {} })), { reply: 'The message is spam or harmful' });
});

test('a virus is refused whatever the action is, and a message that could not be scanned is a fault when it must not pass', (t) => {
  const found = { name: 'CLAM_VIRUS', score: 0, metric_score: 0, options: ['Eicar-Test-Body.UNOFFICIAL'] };
  const refused = { verdict: 'refuse', reply: 'The message contains a virus: Eicar-Test-Body.UNOFFICIAL', code: 554 };
  for (const action of ['no action', 'add header', 'soft reject'])
    t.deepEqual(verdictOf(result({ action, symbols: { CLAM_VIRUS: found } })), refused as object);
  t.like(verdictOf(result({ symbols: { CLAMAV: null } })), { verdict: 'refuse', code: 554 });
  t.is(verdictOf(result({ symbols: { NO_VIRUS: found, CLAM_VIRUS_ENCRYPTED: found } })).verdict, 'accept');
  const unscanned = result({ symbols: { CLAM_VIRUS_FAIL: { ...found, options: ['failed to scan'] } } });
  t.is(verdictOf(unscanned).verdict, 'accept');
  t.throws(() => verdictOf(unscanned, 'defer'), { message: /antivirus/ });
});

test('the fields tell score and rules, those that count most first, and nothing that is no name', (t) => {
  const symbols = { A: { score: 0.5 }, B: { score: -4 }, ZERO: { score: 0 }, 'x\r\ny': { score: 9 }, NONE: null };
  t.deepEqual(verdictOf(result({ action: 'add header', score: 7, symbols })), {
    verdict: 'junk',
    headers: [
      { name: 'X-Spam-Status', value: 'Yes, score=7.00 required=15.00 tests=B,A' },
      { name: 'X-Spam-Score', value: '7.00' },
    ],
  });
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`RULE_${i}`, { score: i }]));
  const accepted = verdictOf(result({ symbols: many }));
  t.true('headers' in accepted && accepted.headers![0]!.value.split(',').length === 21);
  t.deepEqual(verdictOf(result({})), {
    verdict: 'accept',
    headers: [
      { name: 'X-Spam-Status', value: 'No, score=1.50 required=15.00 tests=none' },
      { name: 'X-Spam-Score', value: '1.50' },
    ],
  });
});

test('a text that is no result is a fault', (t) => {
  for (const text of ['', '{}', '[]', 'null', '{"action":"reject"}', '{"action":1,"score":1}', '<html>']) {
    t.throws(() => verdictOf(text), undefined, text);
  }
});
