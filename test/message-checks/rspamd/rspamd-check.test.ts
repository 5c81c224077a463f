// Tests the check of rspamd against a scripted worker: what it is told, what a missing answer means, and that no sender takes all requests.
import { freePort } from '../../../dev/ports.js';
import { CheckChain } from '../../../src/message-checks/check-chain.js';
import type { CheckedPeer } from '../../../src/message-checks/content-check.js';
import { type RspamdCheckOptions, rspamdCheck } from '../../../src/message-checks/rspamd/rspamd-check.js';
import { RspamdServer, RspamdUnreachable } from '../../../src/message-checks/rspamd/rspamd-server.js';
import { answers, startScriptedRspamd } from '../../support/peers/scripted-rspamd.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { silent } from '../mailauth/peers.js';

const PEER: CheckedPeer = { remoteAddress: '192.0.2.1', helo: 'peer.test', accountId: undefined, user: undefined };
const ENVELOPE = { id: 'T1', sender: 'a@peer.test', recipients: ['b@example.test', 'é@example.test'] };
const TEXT = 'Subject: x\r\n\r\nbody\r\n';

type Scripted = Awaited<ReturnType<typeof startScriptedRspamd>>;

function chainTo({ url }: Pick<Scripted, 'url'>, options: Partial<RspamdCheckOptions> = {}) {
  const counted: string[] = [];
  const check = rspamdCheck({
    server: new RspamdServer(url),
    hostname: 'mx.example.test',
    onFault: 'skip',
    holderOf: ({ remoteAddress }) => remoteAddress,
    ...options,
  });
  const chain = new CheckChain([check], silent, { judged: (_, outcome) => void counted.push(outcome) });
  const judge = (peer: Partial<CheckedPeer> = {}, chunks = () => [Buffer.from(TEXT)]) =>
    chain.judge({ authenticated: undefined, chunks }, ENVELOPE, { ...PEER, ...peer });
  return { judge, counted };
}

test('rspamd gets the message with its envelope and peer', async (t) => {
  const rspamd = await startScriptedRspamd(t);
  const { judge } = chainTo(rspamd);
  await judge();
  const { path, headers, body } = rspamd.asked[0]!;
  t.is(path, '/checkv2');
  t.is(body, TEXT);
  t.like(headers, { ip: '192.0.2.1', helo: 'peer.test', from: 'a@peer.test', 'queue-id': 'T1', user: undefined });
  // The octets are those of UTF-8.
  t.is(Buffer.from(String(headers['rcpt']), 'latin1').toString(), 'b@example.test, é@example.test');
  await judge({ accountId: 'acc', user: 'ann@example.test', helo: 'x\r\nIP: 127.0.0.1' });
  t.like(rspamd.asked[1]!.headers, { user: 'ann@example.test', helo: 'x IP: 127.0.0.1', ip: '192.0.2.1' });
});

test('its actions become verdicts, and a message larger than any buffer arrives whole', async (t) => {
  const rspamd = await startScriptedRspamd(t);
  const { judge, counted } = chainTo(rspamd);
  rspamd.answer = answers({ action: 'add header', score: 8 });
  t.like(await judge({}, () => Array.from({ length: 64 }, () => Buffer.alloc(65_536, 'x'))), {
    verdict: 'junk',
    headers: 'X-Spam-Status: Yes, score=8.00 required=15.00 tests=none\r\nX-Spam-Score: 8.00\r\n',
    by: 'rspamd',
  });
  t.is(rspamd.asked[0]!.body.length, 64 * 65_536);
  rspamd.answer = answers({ action: 'reject', messages: { smtp_message: 'A virus' } });
  t.deepEqual(await judge(), { verdict: 'refuse', reply: 'A virus', code: 554, by: 'rspamd' });
  rspamd.answer = answers({ action: 'soft reject' });
  t.like(await judge(), { verdict: 'defer' });
  t.deepEqual(counted, ['junk', 'refuse', 'defer']);
});

test('without an answer the message is accepted unchecked and counted, or deferred, as the setting says', async (t) => {
  const rspamd = await startScriptedRspamd(t);
  const limits = { answerMs: 50 };
  for (const answer of [
    () => undefined,
    answers({ action: null }),
    (response: Parameters<Scripted['answer']>[0]) => void response.writeHead(500).end('{}'),
    (response: Parameters<Scripted['answer']>[0]) => void response.socket!.destroy(),
  ] satisfies Scripted['answer'][]) {
    rspamd.answer = answer;
    const accepting = chainTo(rspamd, { limits });
    t.deepEqual(await accepting.judge(), { verdict: 'accept', headers: '', by: undefined });
    t.deepEqual(accepting.counted, ['skipped']);
    const deferring = chainTo(rspamd, { limits, onFault: 'defer' });
    t.like(await deferring.judge(), { verdict: 'defer', by: 'rspamd' });
    t.deepEqual(deferring.counted, ['postponed']);
  }
  const gone = chainTo({ url: 'http://127.0.0.1:1' });
  t.like(await gone.judge(), { verdict: 'accept' });
});

test('an rspamd that cannot be reached three times in a row is not asked about the next messages', async (t) => {
  let asked = 0;
  const server: RspamdCheckOptions['server'] = {
    post() {
      asked++;
      return Promise.reject(new RspamdUnreachable(new Error('refused')));
    },
  };
  const { judge, counted } = chainTo({ url: '' }, { server });
  for (let i = 0; i < 6; i++) await judge();
  t.is(asked, 3);
  t.deepEqual(counted, Array(6).fill('skipped'));
});

const SILENT: RspamdCheckOptions['server']['post'] = (_path, _fields, _message, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('messages of one sender that get no answer end the check for that sender; three such senders end it for all', async (t) => {
  let asked = 0;
  const server: RspamdCheckOptions['server'] = {
    post(...request) {
      asked++;
      return SILENT(...request);
    },
  };
  const { judge, counted } = chainTo({ url: '' }, { server, limits: { answerMs: 10 } });
  for (let i = 0; i < 5; i++) await judge({ remoteAddress: '198.51.100.1' });
  t.is(asked, 3);
  for (let i = 2; i < 6; i++) await judge({ remoteAddress: `198.51.100.${i}` });
  t.is(asked, 5);
  t.deepEqual(counted, Array(9).fill('skipped'));
});

test('while rspamd answers nobody, messages that wait or find no place are taken unchecked or deferred, as the setting says', async (t) => {
  const limits = { requests: 4, requestsPerHolder: 2, waitingPerHolder: 5, answerMs: 100, waitMs: 100 };
  for (const [onFault, verdict, outcome] of [
    ['skip', 'accept', 'skipped'],
    ['defer', 'defer', 'postponed'],
  ] as const) {
    const { judge, counted } = chainTo({ url: '' }, { server: { post: SILENT }, limits, onFault });
    const judgements = await Promise.all(Array.from({ length: 7 }, () => judge()));
    for (const each of judgements) t.is(each.verdict, verdict);
    t.deepEqual(counted, Array(7).fill(outcome));
  }
  // A server that ends nothing: two messages have its requests, and one waits.
  const never: RspamdCheckOptions['server'] = { post: () => new Promise(() => undefined) };
  const { judge } = chainTo({ url: '' }, { server: never, limits: { ...limits, waitingPerHolder: 1 } });
  const asked = [judge(), judge()];
  t.like(await judge(), { verdict: 'accept' }, 'its wait has ended');
  const waiting = judge();
  t.like(await judge(), { verdict: 'accept' }, 'no place is left');
  await Promise.all([...asked, waiting]);
});

test('a server that takes no connection is told from one that gives no answer', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  await t.throwsAsync(new RspamdServer(url).post('/checkv2', {}, [], AbortSignal.timeout(60_000)), {
    instanceOf: RspamdUnreachable,
  });
  const rspamd = await startScriptedRspamd(t);
  rspamd.answer = (response) => void response.socket!.destroy();
  const error = await t.throwsAsync(new RspamdServer(rspamd.url).post('/checkv2', {}, [], AbortSignal.timeout(60_000)));
  t.false(error instanceof RspamdUnreachable);
});

test('messages that rspamd refuses to look at do not end the checks of others', async (t) => {
  let status = 400;
  const server: RspamdCheckOptions['server'] = {
    post: () =>
      Promise.resolve({ status, text: JSON.stringify({ action: 'no action', score: 0, required_score: 15 }) }),
  };
  const { judge, counted } = chainTo({ url: '' }, { server });
  for (let i = 0; i < 4; i++) await judge();
  status = 200;
  await judge();
  t.deepEqual(counted, [...Array(4).fill('skipped'), 'accept']);
});

test('a sender that floods waits within its share, and is deferred beyond it; others are checked', async (t) => {
  const rspamd = await startScriptedRspamd(t);
  const open: (() => void)[] = [];
  rspamd.answer = (response, asked) => void open.push(() => answers({})(response, asked));
  const limits = { requests: 4, requestsPerHolder: 2, waitingPerHolder: 1 };
  const { judge, counted } = chainTo(rspamd, { limits });
  const flood = Array.from({ length: 4 }, () => judge({ remoteAddress: '198.51.100.1' }));
  t.like(await Promise.race(flood), { verdict: 'defer' });
  const other = judge();
  await until(() => rspamd.asked.length === 3);
  while (open.length > 0) open.shift()!();
  t.like(await other, { verdict: 'accept' });
  await until(() => open.length === 1);
  open.shift()!();
  await Promise.all(flood);
  t.deepEqual(counted.sort(), ['accept', 'accept', 'accept', 'accept', 'defer']);
});
