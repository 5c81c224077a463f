// Tests the push service and the webhook receiver of the tests: they accept what is right and notice what is wrong.
import { request } from 'node:http';
import { Webhook } from 'standardwebhooks';
import webPush from 'web-push';
import test from '../test.js';
import { startPushService, type TestSubscription } from './push-service.js';
import { startWebhookReceiver } from './webhook-receiver.js';

const keys = webPush.generateVAPIDKeys();
const vapidDetails = { ...keys, subject: 'mailto:admin@example.test' };

async function send(to: TestSubscription, text: string, options: webPush.RequestOptions = {}): Promise<number> {
  const { endpoint, p256dh, auth } = to;
  const made = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, { vapidDetails, ...options });
  const answer = await fetch(made.endpoint, {
    method: 'POST',
    headers: { ...made.headers, ...options.headers } as Record<string, string>,
    body: made.body,
  });
  return answer.status;
}

test('a message is decrypted, with what the sender said of it', async (t) => {
  const service = await startPushService(t);
  const subscription = service.subscribe(keys.publicKey);
  t.is(await send(subscription, '{"title":"Zoë 💌"}', { TTL: 60, urgency: 'high', topic: 'thread-1' }), 201);
  const [message] = service.messages;
  t.deepEqual(service.payloads(subscription.endpoint), [{ title: 'Zoë 💌' }]);
  t.like(message, { ttl: 60, urgency: 'high', topic: 'thread-1', sender: 'mailto:admin@example.test', accepted: true });
  t.is(message!.vapidKey, keys.publicKey);
  t.deepEqual(service.faults, []);
});

test('what a push service refuses is refused and kept', async (t) => {
  const service = await startPushService(t);
  const subscription = service.subscribe(keys.publicKey);
  const stranger = { ...vapidDetails, ...webPush.generateVAPIDKeys() };
  t.is(await send(subscription, 'x', { vapidDetails: stranger }), 403);
  t.is(await send(subscription, 'x'.repeat(4200)), 413);
  t.is(await send({ ...subscription, auth: service.subscribe().auth }, 'x'), 400);
  t.is(await send({ ...subscription, endpoint: `${service.receiver.url}/push/none` }, 'x'), 404);
  t.is(await send(subscription, 'x', { headers: { Authorization: 'Bearer x' } }), 401);
  t.is(service.faults.length, 5);
  t.is(service.messages.length, 0);
  service.unsubscribe(subscription.endpoint);
  t.is(await send(subscription, 'x'), 410);
});

test('answers follow the script; a refused message is not accepted', async (t) => {
  const service = await startPushService(t);
  const { receiver } = service;
  const subscription = service.subscribe();
  receiver.answerNext({ status: 429, headers: { 'retry-after': '1' } }, 'close');
  t.is(await send(subscription, 'one'), 429);
  await t.throwsAsync(send(subscription, 'two'));
  receiver.answer({ status: 503 });
  t.is(await send(subscription, 'three'), 503);
  receiver.answer(undefined);
  t.is(await send(subscription, '"four"'), 201);
  t.deepEqual(
    service.messages.map(({ accepted }) => accepted),
    [false, false, false, true],
  );
  t.deepEqual(service.payloads(), ['four']);
});

test('a server that never ends keeps a client busy until the client goes away', async (t) => {
  const { receiver } = await startWebhookReceiver(t);
  for (const answer of ['hang', 'endless', 'drip', 'headers'] as const) {
    receiver.answerNext(answer);
    const before = receiver.writtenOctets;
    const asked = request(receiver.url, { method: 'POST', agent: false }, (reply) => reply.resume()).end();
    asked.on('error', () => {});
    await receiver.until(
      () => receiver.requests.at(-1)?.answer === answer && (answer === 'hang' || receiver.writtenOctets > before),
    );
    t.is(receiver.connections, 1);
    asked.destroy();
    await receiver.until(() => receiver.connections === 0);
  }
  t.is(receiver.mostAtOnce, 1);
});

test('what is held is answered when it is released; a shut server is reached again on its port', async (t) => {
  const { receiver } = await startWebhookReceiver(t);
  receiver.answerNext('hold');
  const held = fetch(receiver.url);
  await receiver.until(() => receiver.requests.length === 1);
  receiver.release();
  t.is((await held).status, 200);
  await receiver.shut();
  await t.throwsAsync(fetch(receiver.url));
  await receiver.listen();
  t.is((await fetch(receiver.url)).status, 200);
});

test('a webhook counts when its signature is right', async (t) => {
  const hooks = await startWebhookReceiver(t);
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = JSON.stringify({ type: 'NewEmail', timestamp: new Date().toISOString(), data: { emailId: '1' } });
  const url = hooks.url();
  const sentAt = new Date();
  const post = (id: string) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('1', sentAt, body),
      },
      body,
    });
  hooks.receiver.answerNext({ status: 500 });
  await post('1');
  await post('1');
  t.deepEqual(
    hooks.deliveries(url, secret).map(({ id, status }) => [id, status]),
    [
      ['1', 500],
      ['1', 200],
    ],
  );
  t.like(hooks.accepted(url, secret), [{ type: 'NewEmail', data: { emailId: '1' } }]);
  await post('2');
  t.throws(() => hooks.deliveries(url, secret), { message: /signature/ });
});
