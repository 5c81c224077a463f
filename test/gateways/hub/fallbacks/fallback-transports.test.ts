// Tests long polling and server-sent events as requests: how a connection opens and ends, what each request is answered, and
// the limits that hold without a WebSocket.

import { anonymousGuard } from '../../../../src/auth/origin.js';
import { Rates } from '../../../../src/auth/rates.js';
import type { HubPeers } from '../../../../src/gateways/hub/fallbacks/fallback-transports.js';
import { MESSAGE_PACK_PROTOCOL } from '../../../../src/gateways/hub/protocols/message-pack-protocol.js';
import type { HttpAnswer } from '../../../../src/gateways/web-socket.js';
import {
  emailRemoved,
  FakeDirectory,
  FakeMailboxes,
  FakeTiming,
  hubRequest,
  recordingLog,
  type TestHubOptions,
  testHub,
} from '../../../support/hub-fakes.js';
import test from '../../../support/test.js';
import { turns } from '../../../support/turns.js';

/** Lets settled promises run their handlers. */
const settled = () => turns(5);

const HANDSHAKE = '{"protocol":"json","version":1}\u001e';
const BINARY_HANDSHAKE = '{"protocol":"messagepack","version":1}\u001e';
const PING = '{"type":6}\u001e';

interface Asked {
  readonly accept?: string;
  readonly body?: string | Uint8Array;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

function setUp(options: Partial<TestHubOptions> = {}) {
  const directory = new FakeDirectory();
  directory.addKey('token', 'account-1');
  directory.addKey('same', 'account-1');
  directory.addKey('other', 'account-2');
  const mailboxes = new FakeMailboxes();
  const timing = new FakeTiming();
  const { log, lines } = recordingLog();
  const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined });
  const hub = testHub({ directory, mailboxes: mailboxes.refs, guard, log, timing, ...options });
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const negotiate = async (): Promise<string> => {
    const { body } = await hub.negotiate(hubRequest('negotiateVersion=1', bearer('token')));
    return (JSON.parse(String(body)) as { connectionToken: string }).connectionToken;
  };
  const ask = (method: string, query: string, { accept = '*/*', body = '', key = 'token', signal }: Asked = {}) =>
    hub.exchange({
      ...hubRequest(query, { ...bearer(key), accept }),
      method,
      aborted: signal ?? new AbortController().signal,
      body: async () => Buffer.from(body),
    });
  /** Opens a connection of long polling and answers its handshake. */
  const open = async (handshake = HANDSHAKE) => {
    const query = `id=${await negotiate()}`;
    await ask('GET', query);
    await ask('POST', query, { body: handshake });
    const answered = await ask('GET', query);
    timing.flush();
    return {
      query,
      answered,
      poll: (asked?: Asked) => ask('GET', query, asked),
      say: (body: string | Uint8Array) => ask('POST', query, { body }),
    };
  };
  /** Removes an email, which is an event for the connections. */
  const happens = (id: string) => {
    mailboxes.events('account-1').next([emailRemoved(id)]);
    timing.flush();
    timing.flush();
  };
  return { hub, mailboxes, timing, lines, negotiate, ask, open, happens };
}

const textOf = (answer: HttpAnswer) => Buffer.from(answer.body as Uint8Array).toString();

/** Returns the email ids in JSON events. */
const removed = (text: string) =>
  text
    .split('\u001e')
    .slice(0, -1)
    .flatMap((message) => (JSON.parse(message) as { arguments?: string[] }).arguments ?? []);

test('the first poll opens, and is answered with nothing; later ones take what waits, all at once', async (t) => {
  const { hub, negotiate, ask, happens, timing } = setUp();
  const query = `id=${await negotiate()}`;
  t.is(hub.connections, 0, 'the negotiation keeps nothing');
  const opened = await ask('GET', query);
  t.like(opened, { status: 200, body: '' });
  t.is(hub.connections, 1);
  t.like(await ask('POST', query, { body: HANDSHAKE }), { status: 200, body: '' });
  const shaken = await ask('GET', query);
  t.like(shaken, {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  });
  t.is(textOf(shaken), '{}\u001e');
  happens('e1');
  happens('e2');
  t.deepEqual(removed(textOf(await ask('GET', query))), ['e1', 'e2']);
  const held = ask('GET', query);
  await settled();
  happens('Zoë 💌');
  t.deepEqual(removed(textOf(await held)), ['Zoë 💌']);
  timing.flush();
});

test('with MessagePack a poll has octets', async (t) => {
  const { open, happens } = setUp();
  const { answered, poll, say } = await open(BINARY_HANDSHAKE);
  t.is(textOf(answered), '{}\u001e');
  t.is(answered.headers?.['content-type'], 'application/octet-stream');
  await say(MESSAGE_PACK_PROTOCOL.ping);
  happens('e1');
  const [message] = MESSAGE_PACK_PROTOCOL.split((await poll()).body as Uint8Array);
  t.like(MESSAGE_PACK_PROTOCOL.parse(message!), { target: 'EmailDeleted', arguments: ['e1'] });
});

test('a second poll ends the first, takes what comes, and counts as a message', async (t) => {
  const { hub, open, happens } = setUp({ limits: { maxMessages: 10 } });
  const { poll } = await open();
  const [first, second] = [poll(), poll()];
  t.like(await first, { status: 204 });
  happens('e1');
  t.deepEqual(removed(textOf(await second)), ['e1']);
  const polls = Array.from({ length: 20 }, () => poll());
  await settled();
  happens('e2');
  const answers = await Promise.all(polls);
  t.true(answers.some(({ body }) => String(body).includes('too many messages')));
  t.is(answers.at(-1)?.status, 404);
  t.is(hub.connections, 0);
});

test('a poll that the client did not receive ends the connection: nothing is missed without notice', async (t) => {
  const { hub, mailboxes, open, happens } = setUp();
  const { poll } = await open();
  happens('e1');
  const answer = await poll();
  answer.finished?.(true);
  t.is(hub.connections, 1);
  happens('e2');
  const lost = await poll();
  lost.finished?.(false);
  t.is(hub.connections, 0);
  t.false(mailboxes.isFollowed('account-1'));
  t.is((await poll()).status, 404);
});

test('a client that leaves during a poll ends the connection', async (t) => {
  const { hub, open } = setUp();
  const { poll } = await open();
  const leaving = new AbortController();
  const held = poll({ signal: leaving.signal });
  await settled();
  t.is(hub.connections, 1);
  leaving.abort();
  t.is((await held).status, 204);
  t.is(hub.connections, 0);
});

test('a client that polls no more is dropped; one that polls needs no pings', async (t) => {
  const { hub, timing, ask, open } = setUp();
  const [steady, silent] = [await open(), await open()];
  let answers = 0;
  const polling = (async () => {
    while ((await steady.poll()).status === 200) answers++;
  })();
  for (let seconds = 0; seconds < 60; seconds += 5) {
    timing.pass(5_000);
    timing.flush();
    await settled();
  }
  t.true(answers >= 3, 'pings');
  t.is(hub.connections, 1);
  t.is((await silent.poll()).status, 404);
  await ask('DELETE', steady.query);
  await polling;
});

test('what waits for a client is bounded: one that takes nothing is cut off', async (t) => {
  const { hub, lines, open, happens } = setUp({ limits: { maxBufferedBytes: 1_000 } });
  const { poll } = await open();
  for (let i = 0; i < 30; i++) happens('e'.repeat(36));
  t.is(hub.connections, 0);
  t.is((await poll()).status, 404);
  t.true(lines.some(({ msg }) => msg === 'slow hub client cut off'));
});

test('DELETE ends the connection and the poll that is under way', async (t) => {
  const { hub, ask, open } = setUp();
  const { query, poll } = await open();
  const held = poll();
  await settled();
  t.is((await ask('DELETE', query)).status, 202);
  t.is((await held).status, 204);
  t.is(hub.connections, 0);
  t.is((await ask('DELETE', query)).status, 404);
  t.is((await ask('POST', query, { body: PING })).status, 404);
});

test('when the hub closes, polls get the reason, then 204, and the connection is gone', async (t) => {
  const { hub, timing, open } = setUp();
  const { poll, say } = await open();
  await say('no message');
  t.regex(textOf(await poll()), /"type":7,"error":.*"allowReconnect":false/);
  t.is(hub.connections, 1);
  t.is((await poll()).status, 204);
  t.is(hub.connections, 0);
  t.is((await poll()).status, 404);
  const careless = await open();
  await careless.say('no message');
  timing.pass(10_000);
  t.is(hub.connections, 0, 'nobody asks for the reason');
});

test('a draining node answers polls, and ends when the last client has gone', async (t) => {
  const { hub, ask, negotiate, open } = setUp();
  const { poll } = await open();
  const query = `id=${await negotiate()}`;
  const drained = hub.drain('Stopping.');
  t.is((await ask('GET', query)).status, 503);
  t.regex(textOf(await poll()), /Stopping\..*"allowReconnect":true/);
  t.is((await poll()).status, 204);
  await drained;
  t.is(hub.connections, 0);
});

test('only the owner reaches a connection, with any key of the account', async (t) => {
  const { ask, open, happens } = setUp();
  const { query } = await open();
  for (const method of ['GET', 'POST', 'DELETE']) {
    t.is((await ask(method, query, { key: 'other', body: PING })).status, 404, method);
    t.is((await ask(method, query, { key: 'unknown', body: PING })).status, 401, method);
  }
  happens('e1');
  t.deepEqual(removed(textOf(await ask('GET', query, { key: 'same' }))), ['e1']);
});

test('a connection is opened with a fresh token of this hub only, and no WebSocket is had without an upgrade', async (t) => {
  const { hub, timing, ask, negotiate } = setUp();
  const mine = await negotiate();
  for (const id of ['chosen', `${'0'.repeat(16)}${mine.slice(16)}`]) t.is((await ask('GET', `id=${id}`)).status, 404);
  for (const id of ['', 'a b', 'x'.repeat(200)]) {
    t.is((await ask('GET', new URLSearchParams({ id }).toString())).status, 400);
  }
  t.like(await ask('GET', ''), { status: 426, headers: { upgrade: 'websocket' } });
  t.like(await ask('GET', '', { key: 'unknown' }), { status: 401 });
  t.is((await ask('POST', '')).status, 400);
  t.is((await ask('POST', `id=${mine}`, { body: HANDSHAKE })).status, 404, 'a poll opens');
  timing.pass(31_000);
  t.is((await ask('GET', `id=${mine}`)).status, 404);
  t.is((await ask('GET', `id=${mine}`, { accept: 'text/event-stream' })).status, 404);
  t.is(hub.connections, 0);
});

test('requests that reach no connection count for the rate of connecting, whatever hub their token names', async (t) => {
  const asked: string[] = [];
  const peers: HubPeers = {
    ask: async (hubId) => {
      asked.push(hubId);
      return hubId.startsWith('a') ? { kind: 'done' } : undefined;
    },
    serve: () => () => {},
  };
  const tokenOf = (hex: string) => `id=${hex.repeat(16)}-0-${'x'.repeat(22)}`;
  const limited = () => setUp({ rates: new Rates({ global: 4, write: 4, authentication: 4, session: 0 }), peers });
  for (const query of ['id=chosen', tokenOf('0')]) {
    const { ask } = limited();
    for (const method of ['GET', 'POST', 'DELETE', 'GET']) t.is((await ask(method, query)).status, 404, query);
    asked.length = 0;
    for (const method of ['GET', 'POST', 'DELETE']) t.is((await ask(method, query)).status, 429, query);
    t.deepEqual(asked, [], 'no other node is asked');
  }
  const { ask } = limited();
  for (let i = 0; i < 20; i++) t.is((await ask('POST', tokenOf('a'), { body: PING })).status, 200);
  t.is((await ask('DELETE', tokenOf('a'))).status, 202);
});

test('the bounds of connections hold, and their requests do not count for the rate of connecting', async (t) => {
  const rates = new Rates({ global: 4, write: 4, authentication: 4, session: 0 });
  const { hub, open, happens } = setUp({ rates, limits: { maxOwnConnections: 1 } });
  const { poll, say } = await open();
  for (let i = 0; i < 20; i++) {
    t.is((await say(PING)).status, 200);
    happens(`e${i}`);
    t.is((await poll()).status, 200);
  }
  t.is((await hub.negotiate(hubRequest('', { authorization: 'Bearer token' }))).status, 429, 'one connection');
  const other = setUp({ limits: { maxOwnConnections: 1 } });
  const tokens = [await other.negotiate(), await other.negotiate()];
  t.is((await other.ask('GET', `id=${tokens[0]}`)).status, 200);
  t.like(await other.ask('GET', `id=${tokens[1]}`), { status: 429, headers: { 'retry-after': '60' } });
});

/** Returns a function that reads the next piece of a stream. */
function pieces(answer: HttpAnswer) {
  const iterator = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await iterator.next();
    return done === true ? undefined : Buffer.from(value as Uint8Array).toString();
  };
}

const EVENTS = { accept: 'text/event-stream' };

test('server-sent events: one line an event, a comment when there is nothing, an end', async (t) => {
  const { hub, ask, negotiate, happens, timing } = setUp({ limits: { silenceMs: 20 } });
  const query = `id=${await negotiate()}`;
  const answer = await ask('GET', query, EVENTS);
  t.like(answer, { status: 200, headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } });
  const next = pieces(answer);
  t.is(await next(), ':\r\n\r\n');
  t.is(await next(), ':\r\n\r\n', 'silence');
  await ask('POST', query, { body: HANDSHAKE });
  t.is(await next(), 'data: {}\u001e\r\n\r\n');
  happens('e1');
  happens('e2');
  const piece = (await next()) ?? '';
  t.regex(piece, /^data: [^\r\n]*\r\n\r\n$/);
  t.deepEqual(removed(piece.slice(6, -4)), ['e1', 'e2']);
  t.is((await ask('GET', query)).status, 400, 'another transport');
  t.is((await ask('GET', query, EVENTS)).status, 400);
  await ask('POST', query, { body: '{"type":7}\u001e' });
  t.is(await next(), undefined);
  answer.finished?.(true);
  timing.flush();
  t.is(hub.connections, 0);
});

test('server-sent events carry no MessagePack', async (t) => {
  const { ask, negotiate } = setUp();
  const query = `id=${await negotiate()}`;
  const next = pieces(await ask('GET', query, EVENTS));
  await next();
  await ask('POST', query, { body: BINARY_HANDSHAKE });
  t.regex((await next()) ?? '', /text only/);
  t.is(await next(), undefined);
});

test('a client that leaves its events, or does not send anything, ends the connection', async (t) => {
  const { hub, timing, ask, negotiate } = setUp({ limits: { silenceMs: 10 } });
  const leaving = new AbortController();
  const query = `id=${await negotiate()}`;
  const next = pieces(await ask('GET', query, { ...EVENTS, signal: leaving.signal }));
  await next();
  leaving.abort();
  t.is(hub.connections, 0);
  t.is(await next(), undefined);

  const silent = `id=${await negotiate()}`;
  const events = pieces(await ask('GET', silent, EVENTS));
  await events();
  await ask('POST', silent, { body: HANDSHAKE });
  const seen: string[] = [];
  for (let piece = await events(); piece !== undefined; piece = await events()) {
    seen.push(piece);
    timing.pass(5_000);
    timing.flush();
  }
  t.regex(seen.at(-1) ?? '', /Nothing was heard from the client/);
  t.true(seen.some((piece) => piece.includes('"type":6')));
  t.is(hub.connections, 0);
});
