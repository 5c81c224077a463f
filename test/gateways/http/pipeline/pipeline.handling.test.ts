// Tests a handler and the end of its request: it hears when no client waits any more, and when its reply was sent,
// abandoned or too late.
import { request } from 'node:http';
import { text } from '../../../../src/gateways/http/fields.js';
import { binary, defineRoute, READ, type Route } from '../../../../src/gateways/http/route.js';
import { type Deferred, deferred } from '../../../support/deferred.js';
import test from '../../../support/test.js';
import { type Gateway, startGateway } from '../gateway.js';

interface World {
  readonly route: Route;
  readonly called: Deferred;
  readonly aborted: Deferred;
  readonly finished: Deferred;
  readonly told: boolean[];
}

/** Defines a route that reads its signal and then answers when `answer` resolves. */
function world(answer: (aborted: AbortSignal) => Promise<void>, stream?: AsyncIterable<Uint8Array>): World {
  const [called, aborted, finished] = [deferred(), deferred(), deferred()];
  const told: boolean[] = [];
  const end = (whole: boolean) => {
    told.push(whole);
    finished.resolve();
  };
  const route = defineRoute({
    method: 'GET',
    path: '/slow',
    summary: 'Slow',
    tags: [],
    inDocument: false,
    access: READ,
    replies: { 200: text(), 201: binary('text/plain') },
    handler: async (call) => {
      call.aborted.addEventListener('abort', aborted.resolve);
      called.resolve();
      await answer(call.aborted);
      return stream === undefined
        ? { status: 200 as const, json: 'done', finished: end }
        : { status: 201 as const, stream: { length: null, chunks: stream }, finished: end };
    },
  });
  return { route, called, aborted, finished, told };
}

const ask = ({ port, key }: Gateway, path = '/slow') =>
  request({ host: '127.0.0.1', port, path, headers: { authorization: `Bearer ${key}` } }).on('error', () => {});

test('a reply that was sent is told of once', async (t) => {
  const { route, finished, told } = world(async () => {});
  const gateway = await startGateway(t, { extra: [route] });
  const response = await fetch(`${gateway.url}/slow`, { headers: { authorization: `Bearer ${gateway.key}` } });
  t.is(await response.text(), '"done"');
  await finished.promise;
  t.deepEqual(told, [true]);
});

test('a client that goes ends the work for it', async (t) => {
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const { route, called, finished, told } = world(aborted);
  const gateway = await startGateway(t, { extra: [route] });
  const asked = ask(gateway);
  asked.end();
  await called.promise;
  asked.destroy();
  await finished.promise;
  t.deepEqual(told, [false]);
});

test('an answer that takes too long is given up, and told of when it comes', async (t) => {
  const answer = deferred();
  const { route, aborted, finished, told } = world(() => answer.promise);
  const gateway = await startGateway(t, { extra: [route], deadlineMs: 50 });
  const response = await fetch(`${gateway.url}/slow`, { headers: { authorization: `Bearer ${gateway.key}` } });
  t.is(response.status, 503);
  await aborted.promise;
  t.deepEqual(told, []);
  answer.resolve();
  await finished.promise;
  t.deepEqual(told, [false]);
});

test('a handler that looks at its signal after its time is over finds it aborted', async (t) => {
  const [late, looked] = [deferred(), deferred()];
  let isAborted: boolean | undefined;
  const { route } = world(async () => {});
  const handler: Route['handler'] = async (call) => {
    await late.promise;
    isAborted = call.aborted.aborted;
    looked.resolve();
    return { status: 200, json: 'done' };
  };
  const gateway = await startGateway(t, { extra: [{ ...route, handler }], deadlineMs: 50 });
  const response = await fetch(`${gateway.url}/slow`, { headers: { authorization: `Bearer ${gateway.key}` } });
  t.is(response.status, 503);
  late.resolve();
  await looked.promise;
  t.true(isAborted);
});

test('a stream that its client leaves, or that breaks, was not sent whole', async (t) => {
  async function* endless() {
    for (;;) yield Buffer.alloc(64 * 1024);
  }
  async function* broken() {
    yield Buffer.alloc(10);
    throw new Error('broken');
  }
  for (const stream of [endless(), broken()]) {
    const { route, finished, told } = world(async () => {}, stream);
    const gateway = await startGateway(t, { extra: [route] });
    const asked = ask(gateway);
    asked.on('response', (response) => response.once('data', () => asked.destroy()).on('error', () => {}));
    asked.end();
    await finished.promise;
    t.deepEqual(told, [false]);
  }
});
