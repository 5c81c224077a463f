// Tests that connections which asked for it are told when sessions, quota or suspension of their account have changed, also after a time in
// which they did not read.
import { anonymousGuard } from '../../../src/auth/origin.js';
import {
  FakeDirectory,
  FakeMailboxes,
  FakeSocket,
  FakeTiming,
  hubRequest,
  recordingLog,
  testHub,
} from '../../support/hub-fakes.js';
import test from '../../support/test.js';

const guard = anonymousGuard({ hostname: 'mail.example.test', publicUrl: undefined, origins: [] });
const HANDSHAKE = Buffer.from('{"protocol":"json","version":1}\u001e');
const notice = (target: string) => ({ type: 1, target, arguments: [{}] });
const TOLD = [notice('SessionsChanged')];
const OF_CHANGES = [notice('QuotaChanged'), notice('SendingChanged')];
const sessionsOf = (accountId: string) => ({ accountId, about: 'sessions' }) as const;

function setUp() {
  const directory = new FakeDirectory();
  directory.addKey('ann', 'account-1');
  directory.addKey('bob', 'account-2');
  const { log, lines } = recordingLog();
  const mailboxes = new FakeMailboxes().refs;
  const hub = testHub({
    directory,
    mailboxes,
    guard,
    log,
    timing: new FakeTiming(),
    limits: { maxBufferedBytes: 400 },
  });
  const open = async (token: string, query = 'sessions=true') => {
    const accept = await hub.upgrade(hubRequest(query, { authorization: `Bearer ${token}` }));
    if (typeof accept !== 'function') throw new Error(`refused with ${accept.status}`);
    const socket = new FakeSocket();
    const listener = accept(socket);
    listener.message(HANDSHAKE, false);
    socket.takeMessages();
    return { socket, listener };
  };
  return { hub, directory, lines, open };
}

test('those of the account that asked for it are told', async (t) => {
  const { directory, open } = setUp();
  const own = await open('ann');
  const stock = await open('ann', 'changes=true');
  const other = await open('bob');
  directory.accountNotices$.next(sessionsOf('account-1'));
  t.deepEqual(own.socket.takeMessages(), TOLD);
  t.deepEqual([...stock.socket.takeMessages(), ...other.socket.takeMessages()], []);
  own.listener.closed(1000);
  directory.accountNotices$.next(sessionsOf('account-1'));
  t.deepEqual(own.socket.takeMessages(), []);
});

test('quota and suspension are told to those that asked for changes', async (t) => {
  const { directory, open } = setUp();
  const page = await open('ann', 'changes=true&sessions=true');
  const program = await open('ann', 'changes=true');
  const others = [await open('ann'), await open('ann', 'resume=true'), await open('bob', 'changes=true')];
  for (const about of ['quotas', 'sending'] as const) directory.accountNotices$.next({ accountId: 'account-1', about });
  t.deepEqual(page.socket.takeMessages(), OF_CHANGES);
  t.deepEqual(program.socket.takeMessages(), OF_CHANGES);
  t.deepEqual(
    others.flatMap(({ socket }) => socket.takeMessages()),
    [],
  );
  directory.missedChanges$.next();
  t.deepEqual(page.socket.takeMessages(), [...TOLD, ...OF_CHANGES]);
  t.deepEqual(program.socket.takeMessages(), OF_CHANGES);
});

test('all are told when notices may have been missed', async (t) => {
  const { directory, open } = setUp();
  const [ann, bob] = [await open('ann'), await open('bob')];
  directory.missedChanges$.next();
  t.deepEqual([ann.socket.takeMessages(), bob.socket.takeMessages()], [TOLD, TOLD]);
});

test('a client that does not read is told once when it reads again', async (t) => {
  const { directory, open } = setUp();
  const { socket, listener } = await open('ann', 'sessions=true&changes=true');
  socket.buffered = 101;
  directory.accountNotices$.next(sessionsOf('account-1'));
  directory.accountNotices$.next(sessionsOf('account-1'));
  directory.accountNotices$.next({ accountId: 'account-1', about: 'sending' });
  t.deepEqual(socket.takeMessages(), []);
  socket.buffered = 0;
  listener.drained();
  t.deepEqual(socket.takeMessages(), [...TOLD, notice('SendingChanged')]);
  listener.drained();
  t.deepEqual(socket.takeMessages(), []);
});

test('a directory that stops telling ends no connection, and a drained hub follows nothing', async (t) => {
  const { hub, directory, lines, open } = setUp();
  const { listener } = await open('ann');
  directory.missedChanges$.error(new Error('the watch broke'));
  t.is(lines.filter(({ level }) => level === 50).length, 1);
  t.is(hub.connections, 1);
  const drained = hub.drain('Stopping.');
  listener.closed(1001);
  await drained;
  t.false(directory.accountNotices$.observed);
});
