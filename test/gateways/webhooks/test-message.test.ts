// Tests a test delivery of a webhook: it ends in time, whatever the receiver does, and returns the result.

import { webhookTest } from '../../../src/gateways/webhooks/test-message.js';
import { clientOf, dnsOf, OK, peer } from '../../net/http-client/peers.js';
import test from '../../support/test.js';

const SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;
const NOT_ABORTED = new AbortController().signal;
const storeOf = (url: string) => ({
  target: async () => ({ url, secrets: [SECRET], eventTypes: [] }) as never,
});

test('a receiver that does not answer is a failure within the deadline', async (t) => {
  for (const serve of [() => {}, (socket: { write(text: string): void }) => socket.write('HTTP/1.1 200 OK\r\nx')]) {
    const silent = await peer(t, serve);
    // The client alone would wait for longer than any test may take.
    const client = clientOf(t, { limits: { connectMs: 3_600_000, answerMs: 3_600_000 } });
    const tried = webhookTest(client, storeOf(`http://127.0.0.1:${silent.port}/`), 300);
    t.like(await tried('a', 'w', NOT_ABORTED), {
      result: 'failed',
      responseStatus: null,
      error: 'The receiver gave no answer in 0.3 s.',
    });
  }
});

test('an answer in time counts, and a client that goes away ends the try', async (t) => {
  const quick = await peer(t, (socket) => socket.end(OK));
  const tried = webhookTest(clientOf(t), storeOf(`http://127.0.0.1:${quick.port}/`));
  t.like(await tried('a', 'w', NOT_ABORTED), { result: 'delivered', responseStatus: 200, error: null });
  t.like(await tried('a', 'w', AbortSignal.abort()), { result: 'given-up' });
  const gone = webhookTest(clientOf(t), { target: async () => undefined });
  t.is(await gone('a', 'w', NOT_ABORTED), undefined);
});

test('the text names no private address', async (t) => {
  const dns = dnsOf({ 'inner.test': { A: ['10.11.12.13'] } });
  const tried = webhookTest(clientOf(t, { dns, allowPrivate: false }), storeOf('https://inner.test/'));
  const attempt = await tried('a', 'w', NOT_ABORTED);
  t.like(attempt, { result: 'failed', error: 'inner.test has a private address' });
});
