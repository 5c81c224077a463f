// Tests Web Push on a whole node, with a push service that decrypts: what browsers are told, and what the answers of a push service do.
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { type PushService, startPushService, type TestSubscription } from '../../support/peers/push-service.js';
import test from '../../support/test.js';

const SETTINGS = {
  MANSIO_HOSTED_DOMAINS: 'example.test',
  MANSIO_PUSH_ALLOW_PRIVATE: 'true',
  MANSIO_PUBLIC_URL: 'https://mail.example.test/',
};

interface Payload {
  readonly title: string;
  readonly body: string;
  readonly icon: string;
  readonly badge: string;
  readonly data: { readonly emailId: string; readonly url: string };
}

interface World {
  readonly node: TestNode;
  readonly service: PushService;
  readonly email: string;
  /** Subscribes a browser. */
  subscribe(): Promise<TestSubscription>;
  call(method: string, path: string, body?: object): Promise<Response>;
  send(subject: string, from?: string): Promise<unknown>;
  /** Kills the node and starts it again on the same store. */
  restart(): Promise<void>;
}

async function start(t: ExecutionContext): Promise<World> {
  const service = await startPushService(t);
  let node = await startTestNode(SETTINGS);
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const { email, key } = await createAccount(sql, 'ann@example.test');
  await sql.end();
  const call = (method: string, path: string, body?: object) =>
    fetch(`http://127.0.0.1:${port(node, 'http')}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const { publicKey } = (await (await call('GET', '/api/push-subscriptions/vapid-public-key')).json()) as {
    publicKey: string;
  };
  return {
    get node() {
      return node;
    },
    service,
    email,
    call,
    async subscribe() {
      const subscription = service.subscribe(publicKey);
      t.is((await call('POST', '/api/push-subscriptions', subscription)).status, 201);
      return subscription;
    },
    send: (subject, from = 'Zoë 💌 <zoe@remote.test>') =>
      createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } }).sendMail({
        from,
        to: email,
        subject,
        text: subject,
      }),
    async restart() {
      const { dataDir } = node;
      await node.kill('SIGKILL');
      node = await startTestNode({ ...SETTINGS, MANSIO_DATA_DIR: dataDir });
    },
  };
}

const bodies = (service: PushService, of?: TestSubscription) =>
  service.payloads<Payload>(of?.endpoint).map(({ body }) => body);

test('every browser of the account gets a message of a new email, which it alone can read', async (t) => {
  const { service, subscribe, send, call } = await start(t);
  const browsers = [await subscribe(), await subscribe()];
  await send('Grüße 💌');
  await service.receiver.until(() => service.payloads().length === 2);
  const { items } = (await (await call('GET', '/api/emails')).json()) as { items: { id: string }[] };
  const [{ id } = { id: '' }] = items;
  for (const { endpoint } of browsers) {
    t.deepEqual(service.payloads<Payload>(endpoint), [
      {
        title: 'Zoë 💌',
        body: 'Grüße 💌',
        icon: 'https://mail.example.test/icons/icon-192.png',
        badge: 'https://mail.example.test/icons/badge-72.png',
        data: { emailId: id, url: `https://mail.example.test/emails/${id}` },
      },
    ]);
  }
  const [message] = service.messages;
  t.is(message!.urgency, 'normal');
  t.true(message!.ttl > 86_000 && message!.ttl <= 86_400);
  t.is(message!.topic, id.replaceAll('-', ''));
  t.is(message!.sender, 'https://mail.example.test');
  t.deepEqual(service.faults, []);
  t.like(await (await call('GET', '/api/discovery')).json(), { features: { pushNotifications: true } });
});

test('messages stop with the subscription, and when the push service says gone', async (t) => {
  const { service, subscribe, send, call } = await start(t);
  const [ended, gone, staying] = [await subscribe(), await subscribe(), await subscribe()];
  t.is((await call('DELETE', '/api/push-subscriptions', { endpoint: ended.endpoint })).status, 204);
  service.unsubscribe(gone.endpoint);
  await send('one');
  await service.receiver.until(() => service.receiver.requests.length === 2);
  await send('two');
  await service.receiver.until(() => service.payloads(staying.endpoint).length === 2);
  t.deepEqual(bodies(service, staying), ['one', 'two']);
  t.deepEqual(bodies(service, ended), []);
  const query = `?endpoint=${encodeURIComponent(staying.endpoint)}`;
  t.is((await call('DELETE', `/api/push-subscriptions${query}`)).status, 204);
  const last = await subscribe();
  await send('three');
  await service.receiver.until(() => service.payloads(last.endpoint).length === 1);
  t.deepEqual(bodies(service, last), ['three']);
  t.is(service.receiver.requests.length, 4);
  t.deepEqual(service.faults, []);
});

test('mail comes in while a push service hangs, and the other push service is not held up', async (t) => {
  const world = await start(t);
  const { service, subscribe, send, call } = world;
  const hanging = await startPushService(t);
  hanging.receiver.answer('hang');
  await subscribe();
  for (let i = 0; i < 5; i++) await call('POST', '/api/push-subscriptions', hanging.subscribe());
  // A mailbox that answers late places an email later, perhaps behind the next one: each is awaited.
  for (const [i, subject] of ['one', 'two', 'three'].entries()) {
    await send(subject);
    await service.receiver.until(() => service.payloads().length === i + 1);
  }
  t.deepEqual(bodies(service), ['one', 'two', 'three']);
  const asked = () => new Set(hanging.receiver.requests.map(({ path }) => path)).size;
  await hanging.receiver.until(() => asked() === 5);
  t.is(hanging.receiver.mostAtOnce, 5, 'one message waits for each subscription');
  const { code } = await world.node.stop();
  t.is(code, 0);
  t.deepEqual(
    world.node.logs.filter((line) => line.includes('did not stop')),
    [],
  );
});
