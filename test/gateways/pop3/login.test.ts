// Tests logins of POP3: USER and PASS, STLS, the lock on the maildrop, and how a login ends. What all protocols have in common is in
// test/scenarios/protocols.

import { StoreFault } from '../../../src/store/errors.js';
import { deferred } from '../../support/deferred.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';
import type { Pop3Client } from './client.js';
import { ALICE, ALICE_EMAIL, BOB_EMAIL, startPop3 } from './gateway.js';

const EXPIRED = '-ERR [AUTH] The credential is no longer valid\r\n';
const IN_USE = '-ERR [IN-USE] Another session has the maildrop';
const LOCK_LOST = '-ERR [IN-USE] Another session has the maildrop; nothing was deleted\r\n';
const OPEN = '+OK Logged in';

/** Sends the lines; returns the shortened replies. */
async function say(client: Pop3Client, ...lines: readonly string[]): Promise<string[]> {
  const replies: string[] = [];
  for (const line of lines) replies.push(/^(\+OK( \w+ \w+)?|-ERR( \[[^\]]+\])?)/.exec(await client.command(line))![0]);
  return replies;
}

const SEND = '+OK Send the';
for (const [form, lines, expected] of [
  ['USER and PASS', [`USER ${ALICE_EMAIL}`, 'PASS alice-key'], [SEND, OPEN]],
  ['a name in other case', ['user Alice@Example.TEST ', 'pass alice-key'], [SEND, OPEN]],
  ['a key of scope app', [`USER ${ALICE_EMAIL}`, 'PASS app-key'], [SEND, OPEN]],
  ['the last of two names', [`USER ${BOB_EMAIL}`, `USER ${ALICE_EMAIL}`, 'PASS alice-key'], [SEND, SEND, OPEN]],
] as const) {
  test(`${form} lets in`, async (t) => {
    const gateway = await startPop3(t);
    const client = await gateway.connect();
    t.deepEqual(await say(client, ...lines), [...expected]);
    t.is(await client.command('STAT'), '+OK 0 0');
    t.like(
      gateway.logged.find(({ msg }) => msg === 'authenticated'),
      { accountId: ALICE, protocol: 'pop3', tls: false },
    );
  });
}

const WRONG = '-ERR [AUTH]';
for (const [what, lines, expected] of [
  ['a wrong key', [`USER ${ALICE_EMAIL}`, 'PASS nonsense'], [SEND, WRONG]],
  ['a key with a space before it', [`USER ${ALICE_EMAIL}`, 'PASS  alice-key'], [SEND, WRONG]],
  ['no password', [`USER ${ALICE_EMAIL}`, 'PASS'], [SEND, '-ERR']],
  ['a password without a name', ['PASS alice-key'], ['-ERR']],
  ['a name that was used up', [`USER ${ALICE_EMAIL}`, 'PASS wrong', 'PASS alice-key'], [SEND, WRONG, '-ERR']],
] as const) {
  test(`${what} does not let in`, async (t) => {
    const gateway = await startPop3(t);
    const client = await gateway.connect();
    t.deepEqual(await say(client, ...lines), [...expected]);
    t.is(await client.command('STAT'), '-ERR Log in first');
    // A later login is judged on its own.
    t.deepEqual(await say(client, `USER ${ALICE_EMAIL}`, 'PASS alice-key'), [SEND, OPEN]);
    t.false(JSON.stringify(gateway.logged).includes('nonsense'), 'no credential is in the log');
  });
}

test('AUTH alone lists the mechanisms', async (t) => {
  const client = await (await startPop3(t)).connect();
  t.is(await client.listing('AUTH'), '+OK Mechanisms follow\r\nPLAIN\r\nLOGIN\r\n');
});

test('names and keys have characters of every kind', async (t) => {
  const gateway = await startPop3(t);
  gateway.directory.keys.set('schlüssel  x', { ...gateway.directory.keys.get('alice-key')!, keyId: 'odd' });
  t.deepEqual(await say(await gateway.connect(), `USER ${ALICE_EMAIL}`, 'PASS schlüssel  x'), [SEND, OPEN]);
});

test('without TLS no credential is taken, and none is looked at', async (t) => {
  const gateway = await startPop3(t, { allowPlaintextAuth: false });
  const client = await gateway.connect();
  for (const line of [`USER ${ALICE_EMAIL}`, 'PASS alice-key', 'AUTH', 'AUTH PLAIN']) {
    t.is(await client.command(line), '-ERR Encryption required, use STLS first');
  }
  await client.startTls();
  t.is(await client.command('STLS'), '-ERR The connection has TLS');
  t.deepEqual(await say(client, `USER ${ALICE_EMAIL}`, 'PASS alice-key'), [SEND, OPEN]);
});

test('TLS from the first octet', async (t) => {
  const gateway = await startPop3(t, { allowPlaintextAuth: false, implicitTls: true });
  const client = await gateway.connect();
  t.false((await client.listing('CAPA')).includes('STLS'));
  t.deepEqual(await say(client, `USER ${ALICE_EMAIL}`, 'PASS alice-key'), [SEND, OPEN]);
});

test('what came before the handshake is forgotten: names, and what was pipelined behind STLS', async (t) => {
  const gateway = await startPop3(t);
  const client = await gateway.connect();
  client.write(`USER ${ALICE_EMAIL}\r\nSTLS\r\nPASS alice-key\r\nSTAT\r\n`);
  t.regex(await client.line(), /^\+OK Send/);
  t.regex(await client.line(), /^\+OK Begin/);
  await client.secure();
  t.is(await client.command('PASS alice-key'), '-ERR USER comes first');
  t.is(gateway.logged.filter(({ msg }) => msg === 'authenticated').length, 0);
});

for (const [fault, reply] of [
  ['unreachable', '-ERR [SYS/TEMP]'],
  ['unsupported', '-ERR [SYS/TEMP]'],
  ['no-such-account', '-ERR [SYS/PERM]'],
  ['bug', '-ERR [SYS/PERM]'],
] as const) {
  test(`a mailbox that is ${fault} opens no session`, async (t) => {
    const gateway = await startPop3(t);
    gateway.mailboxes.fault = fault;
    const client = await gateway.connect();
    t.deepEqual(await say(client, `USER ${ALICE_EMAIL}`, 'PASS alice-key'), [SEND, reply]);
    t.is(await client.rest(), '');
    gateway.mailboxes.fault = undefined;
    await gateway.open();
  });
}

test('one session has the maildrop, and another account has its own', async (t) => {
  const gateway = await startPop3(t);
  const first = await gateway.open();
  const second = await gateway.connect();
  await second.command(`USER ${ALICE_EMAIL}`);
  t.is(await second.command('PASS app-key'), IN_USE);
  t.is(await second.rest(), '');
  await gateway.open('bob-key');
  t.is(await first.command('QUIT'), '+OK Bye');
  await gateway.open();
});

test('a session renews its lock with the next owner, who knows of none', async (t) => {
  const gateway = await startPop3(t, { limits: { renewMs: 20 } });
  const first = await gateway.open();
  gateway.mailboxes.reload();
  const renewed = deferred();
  gateway.mailboxes.hook('keepMaildrop', async (_, proceed) => {
    const outcome = await proceed();
    renewed.resolve();
    return outcome;
  });
  await renewed.promise;
  const second = await gateway.connect();
  await second.command(`USER ${ALICE_EMAIL}`);
  t.is(await second.command('PASS alice-key'), IN_USE);
  t.is(await first.command('STAT'), '+OK 0 0');
});

test('a session whose lock another has got ends, and deletes nothing', async (t) => {
  const gateway = await startPop3(t, { limits: { renewMs: 20 } });
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  gateway.mailboxes.hook('keepMaildrop', async () => ({ reply: { kind: 'open' } }));
  const [waiting, quitting] = [await gateway.open(), await gateway.open('bob-key')];
  await waiting.command('DELE 1');
  gateway.mailboxes.reload();
  await gateway.open();
  t.is(await quitting.command('QUIT'), '+OK Bye');
  t.is(await waiting.command('QUIT'), LOCK_LOST.trimEnd());
  t.is(await waiting.rest(), '');
  t.is(gateway.mailboxes.account(ALICE).emails.size, 1);
});

test('a session that waits is told at once that another has its maildrop; a busy one behind its command', async (t) => {
  const gateway = await startPop3(t, { limits: { renewMs: 20 } });
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  const [waiting, busy] = [await gateway.open(), await gateway.open('bob-key')];
  const [gate, asked] = [deferred(), deferred()];
  gateway.mailboxes.hook('keepMaildrop', async () => ({ reply: { kind: 'inUse' } }));
  t.is(await waiting.rest(), LOCK_LOST);
  t.is(await busy.rest(), LOCK_LOST);
  gateway.mailboxes.hook('keepMaildrop', async (_, proceed) => proceed());
  // The next owner knows no lock, so nothing waits until the lock of the lost session expires.
  gateway.mailboxes.reload();
  const other = await gateway.open();
  const { readAll } = gateway.blobs;
  gateway.blobs.readAll = async (hashes) => {
    asked.resolve();
    await gate.promise;
    return readAll.call(gateway.blobs, hashes);
  };
  other.write('RETR 1\r\nNOOP\r\n');
  await asked.promise;
  const lost = deferred();
  gateway.mailboxes.hook('keepMaildrop', async () => {
    lost.resolve();
    return { reply: { kind: 'inUse' } };
  });
  await lost.promise;
  await turn();
  gate.resolve();
  t.is(await other.rest(), `+OK 8 octets\r\nA: b\r\n\r\n.\r\n${LOCK_LOST}`);
});

test('an owner that cannot be asked takes no lock away', async (t) => {
  const gateway = await startPop3(t, { limits: { renewMs: 20 } });
  const client = await gateway.open();
  let times = 0;
  const thrice = deferred();
  gateway.mailboxes.hook('keepMaildrop', async () => {
    if (++times === 3) thrice.resolve();
    throw new StoreFault('store-unavailable', 'down', { temporary: true });
  });
  await thrice.promise;
  t.is(await client.command('NOOP'), '+OK Nothing done');
});

test('a QUIT that fails says so, and deletes nothing', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  const client = await gateway.open();
  await client.command('DELE 1');
  gateway.mailboxes.fault = 'store-unavailable';
  t.is(await client.command('QUIT'), '-ERR [SYS/TEMP] Temporary failure, try again later');
  t.is(await client.rest(), '');
  t.is(gateway.mailboxes.account(ALICE).emails.size, 1);
});

test('a QUIT that fails frees the maildrop', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  const client = await gateway.open();
  await client.command('DELE 1');
  gateway.mailboxes.hook('quitMaildrop', async () => {
    throw new StoreFault('store-unavailable', 'down', { temporary: true });
  });
  t.is(await client.command('QUIT'), '-ERR [SYS/TEMP] Temporary failure, try again later');
  t.is(await (await gateway.reopen()).command('STAT'), '+OK 1 8');
});

test('a revoked key ends its session, which deletes nothing, and no others', async (t) => {
  const gateway = await startPop3(t);
  await gateway.deliver(ALICE, 'A: b\r\n\r\n');
  const [session, other, bare] = [await gateway.open(), await gateway.open('bob-key'), await gateway.connect()];
  await session.command('DELE 1');
  gateway.directory.revoke('alice-key');
  t.is(await session.rest(), EXPIRED);
  t.is(await other.command('NOOP'), '+OK Nothing done');
  t.is(await bare.command('STAT'), '-ERR Log in first');
  t.is(gateway.mailboxes.account(ALICE).emails.size, 1);
  t.is(await other.command('QUIT'), '+OK Bye');
});

test('a key that is revoked while the maildrop is opened opens no session', async (t) => {
  const gateway = await startPop3(t);
  gateway.mailboxes.hook('maildropPage', async (_, proceed) => {
    gateway.directory.revoke('alice-key');
    return proceed();
  });
  const client = await gateway.connect();
  await client.command(`USER ${ALICE_EMAIL}`);
  t.is(await client.command('PASS alice-key'), '-ERR [AUTH] Credentials invalid');
  t.is(await client.rest(), '');
  await gateway.reopen('app-key');
});
