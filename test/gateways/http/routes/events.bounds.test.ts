// Tests who may open how many event streams, when they end, and what a client that reads slowly or not at all costs.
import type { TokenVerifier } from '../../../../src/auth/oidc/token-verifier.js';
import { emailRemoved } from '../../../support/hub-fakes.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';
import { dataOf, isEnded, MINE, OTHER, startNode, TOKEN } from './event-node.js';

test('a stream ends with its key, with its account and with the node', async (t) => {
  const { directory, principal, streams, open } = await startNode(t);
  const mine = await open();
  const other = await open('', { key: 'other' });
  directory.revokedKeys$.next('another-key');
  directory.revokedKeys$.next(principal.keyId!);
  await mine.until(isEnded(mine));
  t.is(mine.ended, 'whole');
  t.is(other.ended, undefined);
  // The notice of the revocation may arrive after the key was checked.
  const late = await open();
  await late.until(isEnded(late));
  t.is(streams.count, 1);
  directory.deletedAccounts$.next(OTHER);
  await other.until(isEnded(other));
  t.is(streams.count, 0);
  directory.addKey('new', '00000000-0000-7000-8000-00000000000c');
  const last = await open('', { key: 'new' });
  streams.drain();
  await last.until(isEnded(last));
  t.is(last.ended, 'whole');
  const refused = await open('', { key: 'new' });
  t.is(refused.status, 503);
  t.is(refused.headers['retry-after'], '1');
});

test('a stream ends when its token does', async (t) => {
  const token = { issuer: 'i', subject: MINE, email: undefined, emailVerified: undefined, name: undefined };
  let expiresAt = 0;
  const tokens: TokenVerifier = {
    async verify() {
      // The time counts from the request: a busy machine may need longer to send it.
      if (expiresAt === 0) expiresAt = Date.now() + 1_000;
      return { ...token, expiresAt };
    },
    userInfo: async () => ({ email: undefined, emailVerified: undefined, name: undefined }),
  };
  const { open } = await startNode(t, { tokens });
  const client = await open('', { key: TOKEN });
  t.is(client.status, 200);
  await client.until(isEnded(client));
  t.true(Date.now() >= expiresAt - 1);
});

test('an account and a node have so many streams; one that was left makes room', async (t) => {
  const { streams, open } = await startNode(t, { limits: { maxStreams: 3, maxOwnStreams: 2 } });
  const mine = [await open(), await open()];
  const third = await open();
  t.is(third.status, 429);
  t.is(third.headers['retry-after'], '60');
  await open('', { key: 'other' });
  const fourth = await open('', { key: 'other' });
  t.is(fourth.status, 503);
  t.is(fourth.headers['retry-after'], '5');
  mine[0]!.close();
  let next = await open();
  while (next.status === 429) next = await open();
  t.is(next.status, 200);
  t.is(streams.count, 3);
});

test('a client that does not read is not read ahead for, and gets all once it reads', async (t) => {
  const { bus, open, streams } = await startNode(t);
  const client = await open();
  await client.until(() => client.events.length === 1);
  client.pause();
  const before = bus.reads;
  const count = 40_000;
  for (let i = 0; i < count; i += 100) {
    bus.commit(
      MINE,
      Array.from({ length: 100 }, (_, k) => emailRemoved(`e${i + k}`)),
    );
  }
  client.resume();
  await client.until(() => client.events.length === count + 1);
  t.deepEqual(
    dataOf(client).slice(1),
    Array.from({ length: count }, (_, i) => `e${i}`),
  );
  t.true(bus.reads > before, 'what the client was too slow for is read from the log again');
  t.is(streams.count, 1);
});

test('a client that takes nothing is cut off, and keeps nothing of the log', async (t) => {
  const { bus, open, streams } = await startNode(t, { http: { stallMs: 200 } });
  const client = await open();
  await client.until(() => client.events.length === 1);
  client.pause();
  // Write until both socket buffers are full and the server ends the stream.
  while (streams.count > 0) {
    bus.commit(
      MINE,
      Array.from({ length: 1_000 }, (_, i) => emailRemoved(`email-${'x'.repeat(200)}-${i}`)),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  client.resume();
  while (client.ended === undefined) await client.until(() => client.ended !== undefined).catch(() => {});
  t.is(client.ended, 'cut');
  t.is(bus.subscriptions, 0);
});

test('a client that leaves in silence is noticed', async (t) => {
  const { bus, open, streams, durations } = await startNode(t);
  const client = await open();
  await client.until(() => client.events.length === 1);
  t.is(streams.count, 1);
  client.close();
  await until(() => streams.count === 0);
  t.is(bus.subscriptions, 0);
  await until(() => durations.length > 0);
});

test('a stream that cannot begin is an error, and takes no place', async (t) => {
  const { bus, open, streams } = await startNode(t, { limits: { maxOwnStreams: 1 } });
  bus.fault = new Error('down');
  t.is((await open()).status, 500);
  bus.fault = undefined;
  t.is(streams.count, 0);
  t.is((await open()).status, 200);
});
