// Tests the chain of content checks: which check ends it, what is remembered, and what a fault or a late verdict means.
import pino from 'pino';
import { pause } from '../../src/concurrency/time-bounds.js';
import { CheckChain } from '../../src/message-checks/check-chain.js';
import type { CheckedMessage, ContentCheck, Verdict } from '../../src/message-checks/content-check.js';
import test from '../support/test.js';

const MESSAGE: CheckedMessage = { authenticated: undefined, chunks: () => [Buffer.from('Subject: x\r\n\r\nbody\r\n')] };
const ENVELOPE = { id: 'T1', sender: 'a@peer.test', recipients: ['b@example.test'] };
const PEER = { remoteAddress: '192.0.2.1', helo: 'peer.test', accountId: undefined, user: undefined };

/** Judges a message by checks with the names `first`, `second`…; returns the judgement, the checks that ran, and the log. */
async function judged(...checks: (Verdict | Partial<ContentCheck>)[]) {
  const names = ['first', 'second', 'third'];
  const ran: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const chain = new CheckChain(
    checks.map((each, i): ContentCheck => {
      const name = names[i]!;
      const { check, ...rest } = 'verdict' in each ? { check: () => each } : each;
      return {
        name,
        deadlineMs: 10_000,
        onFault: 'skip',
        check(...asked) {
          ran.push(name);
          return check!(...asked);
        },
        ...rest,
      };
    }),
    pino({}, { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) }),
  );
  return { judgement: await chain.judge(MESSAGE, ENVELOPE, PEER), ran: ran.join(' '), logged };
}

const ACCEPT: Verdict = { verdict: 'accept' };
const JUNK: Verdict = { verdict: 'junk' };
const score = (value: string): Verdict => ({ verdict: 'accept', headers: [{ name: 'X-Spam-Score', value }] });

test('without checks, and when all accept, the message is accepted', async (t) => {
  const accepted = { verdict: 'accept', headers: '', by: undefined };
  t.deepEqual((await judged()).judgement, accepted);
  const { judgement, ran } = await judged(ACCEPT, { check: async () => ACCEPT });
  t.deepEqual(judgement, accepted);
  t.is(ran, 'first second');
});

test('the first check that refuses or defers ends the chain', async (t) => {
  const refuse: Verdict = { verdict: 'refuse', reply: 'A virus' };
  const defer: Verdict = { verdict: 'defer', reply: 'Greylisted' };
  const refused = await judged(ACCEPT, refuse, defer);
  t.deepEqual(refused.judgement, { ...refuse, by: 'second' });
  t.is(refused.ran, 'first second');
  const deferred = await judged({ check: () => Promise.resolve(defer) }, refuse);
  t.deepEqual(deferred.judgement, { ...defer, by: 'first' });
  t.is(deferred.ran, 'first');
});

test('junk is remembered with the first check that says it, and a later check may still refuse', async (t) => {
  const { judgement, ran } = await judged(ACCEPT, JUNK, JUNK);
  t.deepEqual(judgement, { verdict: 'junk', headers: '', by: 'second' });
  t.is(ran, 'first second third');
  t.deepEqual((await judged(JUNK, ACCEPT)).judgement, { verdict: 'junk', headers: '', by: 'first' });
  t.like((await judged(JUNK, { verdict: 'refuse', reply: 'No' })).judgement, { verdict: 'refuse', by: 'second' });
});

test('headers accumulate in the order of the checks, and each is one field whatever its value is', async (t) => {
  const { judgement } = await judged(
    score('1.5'),
    { ...JUNK, headers: [{ name: 'X-Spam-Status', value: 'Yes\r\nBcc: eve@example.test\r\n\r\nbody' }] },
    score('é'),
  );
  t.deepEqual(judgement, {
    verdict: 'junk',
    headers: 'X-Spam-Score: 1.5\r\nX-Spam-Status: Yes Bcc: eve@example.test body\r\nX-Spam-Score: =?utf-8?B?w6k=?=\r\n',
    by: 'second',
  });
  const long = (await judged(score('word '.repeat(300)))).judgement;
  t.true('headers' in long && long.headers.split('\r\n').every((line) => line.length < 80));
});

test('a check that fails defers the message or is skipped, as it declares', async (t) => {
  const faults: ContentCheck['check'][] = [
    () => {
      throw new Error('broken');
    },
    () => Promise.reject(new Error('broken')),
    () => ({ verdict: 'accept', headers: [{ name: 'X-Spam\r\nBcc: eve@example.test\r\nX', value: '' }] }),
  ];
  for (const check of faults) {
    const skipped = await judged({ check }, JUNK);
    t.deepEqual(skipped.judgement, { verdict: 'junk', headers: '', by: 'second' });
    t.like(skipped.logged[0], { msg: 'a content check failed', check: 'first', onFault: 'skip' });
    const deferred = await judged({ check, onFault: 'defer' }, JUNK);
    t.like(deferred.judgement, { verdict: 'defer', by: 'first' });
    t.is(deferred.ran, 'first');
  }
});

test('a late verdict does not count, and its check is told to stop', async (t) => {
  let isStopped = false;
  const check: ContentCheck['check'] = async (_message, _envelope, _peer, signal) => {
    await pause(50);
    isStopped = signal.aborted;
    return { verdict: 'refuse', reply: 'Too late' };
  };
  const skipped = await judged({ check, deadlineMs: 1 }, score('0'));
  t.deepEqual(skipped.judgement, { verdict: 'accept', headers: 'X-Spam-Score: 0\r\n', by: undefined });
  const deferred = await judged({ check, deadlineMs: 1, onFault: 'defer' }, JUNK);
  t.like(deferred.judgement, { verdict: 'defer', by: 'first' });
  await pause(100);
  t.true(isStopped);
});

test('a check sees the message, the envelope and the peer', async (t) => {
  const seen: unknown[] = [];
  const check: ContentCheck['check'] = async (message, envelope, peer) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of message.chunks()) pieces.push(piece);
    seen.push(Buffer.concat(pieces).toString(), envelope, peer);
    return ACCEPT;
  };
  await judged({ check });
  t.deepEqual(seen, ['Subject: x\r\n\r\nbody\r\n', ENVELOPE, PEER]);
});
