// Tests the content checks of mail that accounts send over HTTP: what a check is told, and what its verdict means for the client.
import { CheckChain } from '../../../../../src/message-checks/check-chain.js';
import type { CheckedEnvelope, CheckedPeer, Verdict } from '../../../../../src/message-checks/content-check.js';
import { silent } from '../../../../message-checks/mailauth/peers.js';
import test from '../../../../support/test.js';
import { ALICE } from '../../fakes.js';
import { startGateway } from '../../gateway.js';
import { BOB, ID, MAIL, receive } from './composed-mail.js';

interface Seen {
  readonly text: string;
  readonly envelope: CheckedEnvelope;
  readonly peer: CheckedPeer;
}

/** One check that reads each message and gives the verdict that stands in `says`. */
function scripted() {
  const seen: Seen[] = [];
  const says: { verdict: Verdict | 'fault' } = { verdict: { verdict: 'accept' } };
  const check = async (
    { chunks }: { chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array> },
    envelope: CheckedEnvelope,
    peer: CheckedPeer,
  ) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of chunks()) pieces.push(piece);
    seen.push({ text: Buffer.concat(pieces).toString('latin1'), envelope, peer });
    if (says.verdict === 'fault') throw new Error('no answer');
    return says.verdict;
  };
  const checks = (onFault: 'defer' | 'skip') =>
    new CheckChain([{ name: 'scripted', deadlineMs: 10_000, onFault, check }], silent);
  return { seen, says, checks };
}

test('a check is told the account, its address and the envelope, with Bcc, and reads the message', async (t) => {
  const { seen, checks } = scripted();
  const gateway = await startGateway(t, { contentChecks: checks('skip') });
  const recipients = [BOB, { address: 'secret@remote.test', type: 'Bcc' }];
  const sent = await gateway.fetch('/api/outbound/send', { method: 'POST', json: { ...MAIL, recipients } });
  t.is(sent.status, 200);
  const [{ text, envelope, peer }] = seen as [Seen];
  t.deepEqual(peer, { remoteAddress: '127.0.0.1', helo: '', accountId: ALICE, user: 'alice@example.test' });
  t.like(envelope, { sender: 'alice@example.test', recipients: ['bob@remote.test', 'secret@remote.test'] });
  t.true(text.includes(`Message-ID: <${envelope.id}@`));
  t.true(text.includes('Hello'));
});

test('a refusal is 400 with the reason and a deferral 503, and nothing is queued, by every way to send', async (t) => {
  const { says, checks } = scripted();
  const gateway = await startGateway(t, { contentChecks: checks('skip') });
  receive(gateway, 'From: Bob <bob@remote.test>\r\nTo: alice@example.test\r\nSubject: Hi\r\n\r\nHello\r\n');
  const post = (path: string, json: object = {}) => gateway.fetch(`/api/outbound/${path}`, { method: 'POST', json });
  const draft = ((await (await post('drafts', MAIL)).json()) as { id: string }).id;
  const sendAt = new Date(Date.now() + 86_400_000).toISOString();
  const ways = () => [
    post('send', MAIL),
    post('send', { ...MAIL, sendAt }),
    post(`drafts/${draft}/send`),
    post(`reply/${ID}`, { textBody: 'Thanks' }),
    post(`forward/${ID}`, { recipients: [BOB] }),
  ];
  says.verdict = { verdict: 'refuse', reply: 'a virus\r\nX: y', code: 554 };
  for (const reply of await Promise.all(ways())) {
    t.is(reply.status, 400);
    t.like(await reply.json(), { detail: 'The message is refused: a virus X: y' });
  }
  says.verdict = { verdict: 'defer', reply: 'Come back later' };
  for (const reply of await Promise.all(ways())) {
    t.deepEqual([reply.status, reply.headers.get('retry-after')], [503, '60']);
    t.like(await reply.json(), { detail: 'The message is not taken now: Come back later' });
  }
  t.false(gateway.mailboxes.asked.some(({ name }) => name === 'enqueue' || name === 'holdOutbound'));
  t.is(gateway.spool.memory.used, 0);
  // The draft is still there, and goes out once the check accepts it; junk is for its recipients to judge.
  says.verdict = { verdict: 'junk' };
  t.is((await post(`drafts/${draft}/send`)).status, 200);
});

test('when a check fails, the message is sent unchecked, or is 503, as the check says', async (t) => {
  for (const [onFault, status] of [
    ['skip', 200],
    ['defer', 503],
  ] as const) {
    const { says, checks } = scripted();
    says.verdict = 'fault';
    const gateway = await startGateway(t, { contentChecks: checks(onFault) });
    t.is((await gateway.fetch('/api/outbound/send', { method: 'POST', json: MAIL })).status, status);
  }
});
