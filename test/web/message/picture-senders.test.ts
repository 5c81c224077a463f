// Tests whose pictures are shown without being asked for.
import {
  hasProvenSender,
  showsPicturesOf,
  withoutSender,
  withSender,
} from '../../../web/src/message/picture-senders.js';
import test from '../../support/test.js';

const NONE = { result: 'none', domain: '' } as const;
const UNCHECKED = { spf: NONE, dkim: NONE, dmarc: NONE };
const SIGNED = { ...UNCHECKED, dkim: { result: 'pass', domain: 'news.test' } as const };
const from = (
  fromAddress: string,
  authentication: Parameters<typeof hasProvenSender>[0]['authentication'] = SIGNED,
) => ({
  fromAddress,
  authentication,
});

test('a sender that is remembered counts when it is proven, however it is written', (t) => {
  const senders = withSender([], 'News@Münze.Test');
  const signed = { ...UNCHECKED, dkim: { result: 'pass', domain: 'xn--mnze-0ra.test' } as const };
  t.true(showsPicturesOf(senders, from('news@münze.test', UNCHECKED)));
  t.true(showsPicturesOf(withSender([], 'a@news.test'), from('A@news.test')));
  t.false(showsPicturesOf(senders, from('other@münze.test', signed)));
  t.false(showsPicturesOf([], from('a@news.test')));
});

test('an address that nothing proves, or that the message does not name, does not count', (t) => {
  const senders = withSender([], 'a@news.test');
  const failed = { ...SIGNED, dmarc: { result: 'fail', domain: 'news.test' } as const };
  const foreign = { ...UNCHECKED, dkim: { result: 'pass', domain: 'evil.test' } as const };
  for (const authentication of [failed, foreign])
    t.false(showsPicturesOf(senders, from('a@news.test', authentication)));
  t.false(showsPicturesOf(senders, { ...from('a@news.test'), fromIsEnvelopeSender: true }));
  t.false(hasProvenSender(from('')));
});

test('at most 200 senders are remembered, the newest ones, each once, and one is taken back', (t) => {
  let senders: string[] = [];
  for (let i = 0; i < 201; i++) senders = withSender(senders, `news${i}@news.test`);
  t.is(senders.length, 200);
  t.false(senders.includes('news0@news.test'));
  t.deepEqual(withSender(['a@x.test', 'b@x.test'], 'A@x.test'), ['b@x.test', 'a@x.test']);
  t.deepEqual(withoutSender(['a@x.test', 'b@x.test'], 'A@X.test'), ['b@x.test']);
});
