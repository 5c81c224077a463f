// Tests one connection over a fake socket, with a clock of the test: handshake, pings, time-outs, slow clients and errors of
// clients.

import fc from 'fast-check';
import { anonymousGuard } from '../../../src/auth/origin.js';
import type { HubOptions } from '../../../src/gateways/hub/hub.js';
import { MESSAGE_PACK_PROTOCOL } from '../../../src/gateways/hub/protocols/message-pack-protocol.js';
import type { SocketListener } from '../../../src/gateways/web-socket.js';
import {
  emailRemoved,
  FakeDirectory,
  FakeMailboxes,
  FakeSocket,
  FakeTiming,
  hubRequest,
  recordingLog,
  testHub,
} from '../../support/hub-fakes.js';
import { hubMessage } from '../../support/hub-message-arbitrary.js';
import test from '../../support/test.js';

const HANDSHAKE = '{"protocol":"json","version":1}\u001e';
const PING = '{"type":6}\u001e';
const PINGED = { type: 6 };

function setUp(limits: HubOptions['limits'] = {}) {
  const directory = new FakeDirectory();
  directory.addKey('token', 'account-1');
  const mailboxes = new FakeMailboxes();
  const timing = new FakeTiming();
  const { log, lines } = recordingLog();
  const guard = anonymousGuard({ hostname: 'x.test', publicUrl: undefined });
  const hub = testHub({ directory, mailboxes: mailboxes.refs, guard, log, timing, limits });
  const connect = async () => {
    const accept = await hub.upgrade(hubRequest('access_token=token'));
    if (typeof accept !== 'function') throw new Error(`refused with ${accept.status}`);
    const socket = new FakeSocket();
    return { socket, listener: accept(socket) };
  };
  const open = async () => {
    const connection = await connect();
    say(connection.listener, HANDSHAKE);
    connection.socket.sent.length = 0;
    return connection;
  };
  return { hub, mailboxes, timing, lines, connect, open };
}

function say(listener: SocketListener, text: string): void {
  listener.message(Buffer.from(text), false);
}

test('answers the handshake once the events are followed', async (t) => {
  const { mailboxes, connect } = setUp();
  const { socket, listener } = await connect();
  t.false(mailboxes.isFollowed('account-1'));
  say(listener, HANDSHAKE);
  t.true(mailboxes.isFollowed('account-1'));
  t.deepEqual(socket.sent, ['{}\u001e']);
});

test('answers the handshake when the events stand, and then what came before, in order', async (t) => {
  const { mailboxes, connect } = setUp();
  mailboxes.late = true;
  const { socket, listener } = await connect();
  const call = (id: string) => `{"type":1,"invocationId":"${id}","target":"X","arguments":[]}\u001e`;
  say(listener, HANDSHAKE + call('1'));
  say(listener, call('2') + call('3'));
  t.deepEqual(socket.sent, []);
  mailboxes.events('account-1').next([]);
  t.like(socket.takeMessages(), [{}, { invocationId: '1' }, { invocationId: '2' }, { invocationId: '3' }]);
  say(listener, call('4'));
  t.like(socket.takeMessages(), [{ invocationId: '4' }]);
});

test('a connection that waits for its events may be closed by the client, break the protocol or go', async (t) => {
  const { hub, mailboxes, connect } = setUp({ maxMessageBytes: 100 });
  mailboxes.late = true;
  const waiting = [await connect(), await connect(), await connect()];
  for (const { listener } of waiting) say(listener, HANDSHAKE);
  const [closing, breaking, going] = waiting;
  say(closing!.listener, '{"type":7}\u001e');
  say(breaking!.listener, PING.repeat(9));
  t.deepEqual(breaking!.socket.sent, []);
  say(breaking!.listener, PING.repeat(9));
  t.deepEqual(Object.keys(breaking!.socket.takeMessages()[0] as object), ['error']);
  t.is(breaking!.socket.closedWith, 1002);
  going!.listener.closed(1006);
  mailboxes.events('account-1').next([]);
  t.deepEqual(closing!.socket.takeMessages(), [{}]);
  t.is(closing!.socket.closedWith, 1000);
  t.deepEqual(going!.socket.sent, []);
  t.false(mailboxes.isFollowed('account-1'));
  for (const { listener } of [closing!, breaking!]) listener.closed(1000);
  t.is(hub.connections, 0);
});

test('a connection whose events do not stand in time is closed with an error as the answer', async (t) => {
  const { mailboxes, timing, connect } = setUp();
  mailboxes.late = true;
  const { socket, listener } = await connect();
  say(listener, HANDSHAKE);
  timing.pass(14_000);
  t.deepEqual(socket.sent, []);
  timing.pass(7_000);
  t.like(socket.takeMessages(), [{ error: 'The mailbox cannot be followed at present.' }]);
  t.is(socket.closedWith, 1013);
  t.false(mailboxes.isFollowed('account-1'));
});

test('messages in one frame with the handshake are taken', async (t) => {
  const { connect } = setUp();
  const { socket, listener } = await connect();
  say(listener, `${HANDSHAKE}${PING}{"type":1,"invocationId":"1","target":"X","arguments":[]}\u001e`);
  t.like(socket.takeMessages(), [{}, { type: 3, invocationId: '1' }]);
});

for (const handshake of [
  '{"protocol":"blazorpack","version":1}\u001e',
  '{"protocol":"json","version":1}',
  'GET /\u001e',
]) {
  test(`closes after the handshake ${JSON.stringify(handshake)} with an error as the answer`, async (t) => {
    const { mailboxes, connect } = setUp();
    const { socket, listener } = await connect();
    say(listener, handshake);
    const [answer] = socket.takeMessages();
    t.deepEqual(Object.keys(answer as object), ['error']);
    t.is(socket.closedWith, 1002);
    t.false(mailboxes.isFollowed('account-1'));
  });
}

test('closes when the mailbox cannot be followed', async (t) => {
  const { mailboxes, connect } = setUp();
  mailboxes.events('account-1').error(new Error('unreachable'));
  const { socket, listener } = await connect();
  say(listener, HANDSHAKE);
  t.like(socket.takeMessages(), [{ error: 'The mailbox cannot be followed at present.' }]);
  t.is(socket.closedWith, 1013);
});

test('closes when the handshake does not come in time', async (t) => {
  const { timing, connect } = setUp();
  const { socket } = await connect();
  timing.pass(14_000);
  t.deepEqual(socket.sent, []);
  timing.pass(7_000);
  t.like(socket.takeMessages(), [{ error: 'The handshake was not completed in time.' }]);
  t.is(socket.closedWith, 1008);
});

test('pings within 15 s of silence, not when something else was sent', async (t) => {
  const { mailboxes, timing, open } = setUp();
  const { socket, listener } = await open();
  for (let seconds = 0; seconds < 300; seconds += 15) {
    timing.pass(15_000);
    say(listener, PING);
    t.deepEqual(socket.takeMessages().at(0), PINGED);
  }
  for (let seconds = 0; seconds < 60; seconds += 5) {
    if (seconds > 0) timing.pass(5_000);
    say(listener, PING);
    mailboxes.events('account-1').next([emailRemoved('e1')]);
    timing.flush();
    t.like(socket.takeMessages(), [{ target: 'EmailDeleted' }]);
  }
});

test('the pings of many connections are spread over the time', async (t) => {
  const { timing, open } = setUp();
  const sockets: FakeSocket[] = [];
  for (let i = 0; i < 100; i++) sockets.push((await open()).socket);
  let most = 0;
  for (let quarters = 0; quarters < 60; quarters++) {
    timing.pass(250);
    most = Math.max(most, sockets.flatMap((socket) => socket.takeMessages()).length);
  }
  t.is(most, 5);
});

test('closes a client that is silent for 30 s, and drops it when it does not answer', async (t) => {
  const { hub, timing, mailboxes, open } = setUp();
  const { socket, listener } = await open();
  timing.pass(29_000);
  t.is(socket.closedWith, undefined);
  timing.pass(5_000);
  t.like(socket.takeMessages().at(-1), { type: 7, allowReconnect: true });
  t.is(socket.closedWith, 1000);
  t.false(mailboxes.isFollowed('account-1'));
  t.false(socket.terminated);
  timing.pass(10_000);
  t.true(socket.terminated);
  listener.closed(1006);
  t.is(hub.connections, 0);
});

test('cuts off a client that does not keep up, and no other', async (t) => {
  const { mailboxes, timing, lines, open } = setUp({ maxBufferedBytes: 1000 });
  const slow = await open();
  const quick = await open();
  slow.socket.buffered = 1001;
  quick.socket.buffered = 1000;
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  timing.flush();
  t.true(slow.socket.terminated);
  t.deepEqual(slow.socket.sent, []);
  t.is(quick.socket.sent.length, 1);
  slow.listener.closed(1006);
  t.like(
    lines.filter((line) => line.level === 40),
    [{ accountId: 'account-1', bufferedBytes: 1001 }],
  );
  mailboxes.events('account-1').next([emailRemoved('e2')]);
  timing.flush();
  t.deepEqual(slow.socket.sent, []);
  t.is(quick.socket.sent.length, 2);
});

test('a socket that reports its end from within terminate() is fine', async (t) => {
  const { hub, mailboxes, timing, open } = setUp({ maxBufferedBytes: 1000 });
  const { socket, listener } = await open();
  socket.terminate = () => listener.closed(1006);
  socket.buffered = 2000;
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  timing.flush();
  t.is(hub.connections, 0);
  t.false(mailboxes.isFollowed('account-1'));
});

test('calls are answered with an error when an answer is wanted, all in one frame', async (t) => {
  const { open } = setUp();
  const { socket, listener } = await open();
  const call = (fields: object) => `${JSON.stringify({ target: 'X'.repeat(500), arguments: [], ...fields })}\u001e`;
  say(listener, call({ type: 1, invocationId: '1' }) + call({ type: 1 }) + call({ type: 4, invocationId: '2' }) + PING);
  t.is(socket.sent.length, 1);
  t.true(socket.sent[0]!.length < 500);
  const answers = socket.takeMessages();
  t.like(answers, [
    { type: 3, invocationId: '1' },
    { type: 3, invocationId: '2' },
  ]);
  t.is(socket.closedWith, undefined);
});

test('passes over what a hub has no use for', async (t) => {
  const { open } = setUp();
  const { socket, listener } = await open();
  for (const text of [
    '{"type":2,"invocationId":"1","item":1}',
    '{"type":3,"invocationId":"1"}',
    '{"type":5,"invocationId":"1"}',
    '{"type":8,"sequenceId":1}',
    '{"type":99}',
  ]) {
    say(listener, `${text}\u001e`);
  }
  t.deepEqual(socket.sent, []);
  t.is(socket.closedWith, undefined);
});

test('closes with the client, and takes nothing after it', async (t) => {
  const { mailboxes, open } = setUp();
  const { socket, listener } = await open();
  say(listener, '{"type":7}\u001e{"type":1,"invocationId":"1","target":"X","arguments":[]}\u001e');
  t.deepEqual(socket.sent, []);
  t.is(socket.closedWith, 1000);
  t.false(mailboxes.isFollowed('account-1'));
  say(listener, 'whatever');
  t.deepEqual(socket.sent, []);
});

test('a client that breaks the protocol is told why and closed, not to reconnect', async (t) => {
  const { open } = setUp({ maxMessageBytes: 100 });
  for (const data of ['{"type":6}', '{"type":\u001e', `"${'x'.repeat(100)}"\u001e`, '\u001e']) {
    const { socket, listener } = await open();
    say(listener, data);
    t.like(socket.takeMessages(), [{ type: 7, allowReconnect: false }]);
    t.is(socket.closedWith, 1002);
  }
});

test('no octets from a client make a connection throw', async (t) => {
  const { connect } = setUp();
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(fc.uint8Array(), { maxLength: 4 }), async (handshaken, frames) => {
      const { socket, listener } = await connect();
      if (handshaken) say(listener, HANDSHAKE);
      for (const frame of frames) listener.message(frame, true);
      listener.closed(1006);
      t.true(socket.sent.every((frame) => frame.endsWith('\u001e')));
    }),
  );
});

test('when the events break off, the client is told to connect again', async (t) => {
  const { mailboxes, open } = setUp();
  const { socket } = await open();
  mailboxes.events('account-1').complete();
  t.like(socket.takeMessages(), [{ type: 7, allowReconnect: true }]);
  t.is(socket.closedWith, 1013);
});

test('a client that sends messages or ping frames in excess is closed', async (t) => {
  const { timing, open } = setUp({ maxMessages: 10 });
  const [steady, talking, pinging] = [await open(), await open(), await open()];
  for (let i = 0; i < 5; i++) {
    say(steady.listener, PING.repeat(5));
    for (let n = 0; n < 4; n++) steady.listener.pinged();
    timing.pass(5_000);
  }
  t.true(steady.socket.open);
  say(talking.listener, PING.repeat(10));
  t.true(talking.socket.open);
  say(talking.listener, PING);
  for (let i = 0; i < 11; i++) pinging.listener.pinged();
  for (const { socket } of [talking, pinging]) {
    t.is(socket.closedWith, 1008);
    const error = 'The client sends too many messages.';
    t.deepEqual(socket.takeMessages().at(-1), { type: 7, error, allowReconnect: false });
  }
});

const BINARY_HANDSHAKE = '{"protocol":"messagepack","version":1}\u001e';

/** Returns the messages in frames of MessagePack. */
function unpacked(frames: readonly Uint8Array[]): unknown[] {
  return MESSAGE_PACK_PROTOCOL.split(Buffer.concat(frames)).map((message) => MESSAGE_PACK_PROTOCOL.parse(message));
}

test('a client that names MessagePack is sent binary frames: answers, events, pings and the reason of the end', async (t) => {
  const { mailboxes, timing, connect } = setUp();
  const { socket, listener } = await connect();
  const call = MESSAGE_PACK_PROTOCOL.encode({ type: 1, invocationId: '1', target: 'X', arguments: [] });
  listener.message(Buffer.concat([Buffer.from(BINARY_HANDSHAKE), MESSAGE_PACK_PROTOCOL.ping, call]), true);
  t.true(socket.binary);
  t.is(Buffer.from(socket.frames[0]!).toString(), '{}\u001e');
  mailboxes.events('account-1').next([emailRemoved('e1')]);
  timing.flush();
  timing.pass(15_000);
  listener.message(Buffer.from('no MessagePack'), true);
  t.like(unpacked(socket.frames.slice(1)), [
    { type: 3, invocationId: '1' },
    { type: 1, target: 'EmailDeleted', arguments: ['e1'] },
    { type: 6 },
    { type: 7, allowReconnect: false },
  ]);
  t.is(socket.closedWith, 1002);
});

test('MessagePack on a transport that carries text only is refused', async (t) => {
  const { connect } = setUp();
  const { socket, listener } = await connect();
  socket.useBinary = () => false;
  say(listener, BINARY_HANDSHAKE);
  t.like(socket.takeMessages(), [
    { error: "The transport carries text only, and the protocol 'messagepack' is binary." },
  ]);
  t.is(socket.closedWith, 1002);
});

test('no octets from a client that speaks MessagePack make a connection throw', async (t) => {
  const { connect } = setUp();
  const frame = fc.oneof(
    fc.uint8Array(),
    fc.uint8Array({ maxLength: 20 }).map((octets) => Uint8Array.of(octets.length, ...octets)),
    hubMessage.map((message) => MESSAGE_PACK_PROTOCOL.encode(message)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { maxLength: 4 }), async (frames) => {
      const { socket, listener } = await connect();
      say(listener, BINARY_HANDSHAKE);
      for (const each of frames) listener.message(each, true);
      listener.closed(1006);
      const [, ...sent] = socket.frames;
      if (sent.length > 0) t.true(unpacked(sent).length > 0);
      t.pass();
    }),
  );
});
